"""What convinces others: certificates, exported queries, probabilities, counterexamples, hints."""
