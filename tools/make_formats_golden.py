#!/usr/bin/env python3
"""Writes tests/data/formats: small files made by Hugging Face's safetensors and by NumPy, which the readers must
understand and the writers must repeat byte for byte.

    pip install numpy==2.4.6 safetensors==0.8.0
    tools/make_formats_golden.py
"""

import pathlib

import numpy as np
import safetensors

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "formats"

# name in safetensors' Python interface -> bytes of one element
DTYPES = {
    "bool": 1, "uint8": 1, "int8": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2,
    "int32": 4, "uint32": 4, "float32": 4, "float64": 8, "int64": 8, "uint64": 8,
}  # fmt: skip


def tensor(dtype, shape, start=0):
    """(dtype, shape, bytes that count up from `start`, so that each can be told from its neighbours)"""
    count = int(np.prod(shape, dtype=int)) * DTYPES[dtype]
    return dtype, shape, (np.arange(count) + start).astype(np.uint8)


def serialize(tensors, metadata):
    specs = {
        name: safetensors.TensorSpec(dtype=dtype, shape=shape, data_ptr=data.ctypes.data, data_len=data.nbytes)
        for name, (dtype, shape, data) in tensors.items()
    }
    return safetensors.serialize(specs, metadata)


def write_safetensors():
    every_dtype = {f"of {name}": tensor(name, [2], start) for start, name in enumerate(DTYPES)}
    every_shape = {
        "b": tensor("float32", [2, 3]),
        "a": tensor("float32", [1, 1, 1, 1]),
        "scalar": tensor("float32", []),
        "no rows": tensor("float32", [0, 768]),
        "narrow": tensor("uint8", [5]),
        "ids": tensor("int64", [3]),
    }
    names = {name: tensor("uint8", [1]) for name in ['quote " \\ /', "line\nend\t\x01\x7f", "é 中 😀", "", "Z", "a"]}
    files = {
        "every_dtype": (every_dtype, None),
        "every_shape": (every_shape, {"format": "pt"}),
        "names": (names, {"key \"\n": "é\x1f"}),
        "no_tensors": ({}, None),
    }
    for name, (tensors, metadata) in files.items():
        (FOLDER / f"{name}.safetensors").write_bytes(serialize(tensors, metadata))


def write_npy():
    for name in DTYPES:
        if name != "bfloat16":  # NumPy has none
            np.save(FOLDER / f"{name}.npy", np.arange(6).reshape(2, 3).astype(name))
    np.save(FOLDER / "scalar.npy", np.float32(1.5))
    np.save(FOLDER / "one_axis.npy", np.arange(3, dtype=np.float32))
    np.save(FOLDER / "no_rows.npy", np.zeros((0, 768), np.float32))
    # A header that would fit 128 bytes without padding: NumPy adds 64 spaces.
    np.save(FOLDER / "full_padding.npy", np.zeros((0, 100, *[1] * 12), np.uint8))
    for version in [(2, 0), (3, 0)]:
        with open(FOLDER / f"version_{version[0]}.npy", "wb") as file:
            np.lib.format.write_array(file, np.arange(3, dtype=np.float32), version)


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    write_safetensors()
    write_npy()
