"""The example that `memsift demo` opens, and the data that it is made from."""
