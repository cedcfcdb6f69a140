"""One address over HTTP, within bounds: where a request may go, and how much may come back."""
