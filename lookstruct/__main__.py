"""`python -m lookstruct` is the `extract` command."""

from lookstruct.cli import main

if __name__ == "__main__":
    main()
