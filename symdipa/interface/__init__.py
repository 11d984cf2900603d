"""What people and scripts see: the command line, reports, pictures, benchmarks."""
