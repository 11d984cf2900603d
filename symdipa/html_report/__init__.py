"""One HTML page about one or several files, complete in itself: no part of it is fetched from elsewhere."""

from symdipa.html_report.page import page
from symdipa.html_report.sections import Checked, Unusable

__all__ = ["Checked", "Unusable", "page"]
