"""What leaves the program: text fit for any terminal, files written whole or not at all."""
