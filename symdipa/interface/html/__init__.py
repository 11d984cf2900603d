"""One HTML page about one or several files, complete in itself: no part of it is fetched from elsewhere."""

from symdipa.interface.html.page import page
from symdipa.interface.html.sections import Checked, Refused

__all__ = ["Checked", "Refused", "page"]
