"""npy and safetensors, as far as the tests need them, without numpy."""

import ast
import json
import struct

CODES = {"F32": "f", "I64": "q", "<f4": "f", "<i8": "q", "<u2": "H"}


def values(data, dtype):
    return list(struct.unpack(f"<{len(data) // struct.calcsize(CODES[dtype])}{CODES[dtype]}", data))


def read_npy(path):
    """(dtype, shape, bytes)"""
    content = path.read_bytes()
    assert content[:8] == b"\x93NUMPY\x01\x00"
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:10 + length].decode())
    assert not header["fortran_order"] and (10 + length) % 64 == 0
    return header["descr"], header["shape"], content[10 + length:]


def read_safetensors(path):
    """{name: (dtype, shape, bytes)}"""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    return {name: (entry["dtype"], tuple(entry["shape"]), data[slice(*entry["data_offsets"])])
            for name, entry in header.items() if name != "__metadata__"}


def write_safetensors(path, tensors):
    """tensors: {name: (shape, float values)}"""
    header, data = {}, b""
    for name, (shape, numbers) in tensors.items():
        start = len(data)
        data += struct.pack(f"<{len(numbers)}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [start, len(data)]}
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
