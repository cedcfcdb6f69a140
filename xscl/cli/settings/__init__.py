"""Options that are not given on the command line: those of `xscl.toml` and of the environment."""
