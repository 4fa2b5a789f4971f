"""What is timed, and against what: each module writes one JSON result with the machine named."""
