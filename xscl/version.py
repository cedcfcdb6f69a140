"""The version of XSCL, and where its pages are."""

__all__ = ["SITE", "__version__"]

__version__ = "1.0.0"

SITE = "https://xscl.readthedocs.io"
