"""`python -m xscl`: the command line."""

from xscl.cli.main import main

if __name__ == "__main__":
    main()
