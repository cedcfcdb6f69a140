"""The command `xscl serve`."""
