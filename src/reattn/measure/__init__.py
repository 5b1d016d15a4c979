"""What the models take when they run: operations counted, times measured."""
