"""The parts of `check_structure.py`: who imports whom in Python and in Rust, circles, and sizes."""
