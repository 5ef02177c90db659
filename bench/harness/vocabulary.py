"""GPT-2's vocabulary for the contenders, written from firstlayer's own: no contender fetches anything."""

from pathlib import Path

from harness import process, setup
from harness.contender import file_sha256

# The hash that tiktoken pins for r50k_base: with it, all contenders work with the published vocabulary.
PUBLISHED_SHA256 = "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930"


def write_ranks() -> Path:
    """A .tiktoken file: per line a token in base64 and its rank."""
    path = setup.WORK / "r50k_base.tiktoken"
    path.write_bytes(process.run([setup.program("firstlayer_ranks")]).stdout)
    if file_sha256(path) != PUBLISHED_SHA256:
        raise RuntimeError(f"[{path.name}] expected SHA-256 {PUBLISHED_SHA256[:16]}, received {file_sha256(path)[:16]}")
    return path
