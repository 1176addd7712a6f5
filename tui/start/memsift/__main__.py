"""`python -m memsift`."""

from memsift import main

if __name__ == "__main__":
    main()
