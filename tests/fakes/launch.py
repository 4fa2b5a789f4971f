"""`python -m tests.fakes.launch VERB …`: the command line as it ships, but for the embedder.

The embedder of the tests stands in, so that a process of its own starts without torch.
"""

from __future__ import annotations

import sys

from aether.cli import main
from aether.engine import Engine
from tests.fakes.embedder import WordEmbedder

if __name__ == "__main__":
    setattr(Engine, "embedder", WordEmbedder(int(sys.argv[1])))  # noqa: B010
    sys.exit(main(sys.argv[2:]))
