#!/usr/bin/env python3
"""Writes what optimizers make of a small embedding table after 1, 10 and 100 steps, with PyTorch 2.13 and FBGEMM 1.8.

Usage: tools/make_optimizer_golden.py               tests/data/lookup/optimizers.safetensors (needs safetensors and
                                                    fbgemm-gpu-cpu, on x86-64 with AVX2 or AVX-512) and schedules.txt
       tools/make_optimizer_golden.py --clip        prints the values in tests/lookup/optimizer/clip_test.cpp
       tools/make_optimizer_golden.py --variants    prints how far PyTorch's other variants are from the fused one

The start, the ids and the gradients come from one seeded generator, so that the file holds results alone. Its tensors
are named CASE/STEPS/weight and CASE/STEPS/NAME for the state, with PyTorch's names. Read by
tests/lookup/optimizer/table_optimizer_test.cpp, which has the same cases and draws the same numbers.
"""

import argparse
import math
import pathlib

import numpy as np
import torch

DATA = pathlib.Path(__file__).resolve().parent.parent / "tests" / "data" / "lookup"
V, D, B, T = 24, 16, 2, 4  # V * D is a multiple of 16: the fused kernels round otherwise in a last, shorter vector
KEPT = (1, 10, 100)

SGD, ADAGRAD, ADAM, ADAMW = torch.optim.SGD, torch.optim.Adagrad, torch.optim.Adam, torch.optim.AdamW
DENSE_SEMANTICS = {
    "sgd": (SGD, {"lr": 0.1}),
    "sgd_decay": (SGD, {"lr": 0.1, "weight_decay": 0.03}),
    "sgd_momentum": (SGD, {"lr": 0.1, "momentum": 0.9}),
    "sgd_dampened": (SGD, {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}),
    "sgd_nesterov": (SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.03, "nesterov": True}),
    "adagrad": (ADAGRAD, {"lr": 0.1}),
    "adagrad_decay": (ADAGRAD, {"lr": 0.1, "lr_decay": 0.01, "weight_decay": 0.03, "initial_accumulator_value": 0.1,
                                "eps": 1e-6}),
    "adam": (ADAM, {"lr": 0.01}),
    "adam_decay": (ADAM, {"lr": 0.01, "weight_decay": 0.03}),
    "adam_low_betas": (ADAM, {"lr": 0.01, "betas": (0.3, 0.8), "weight_decay": 0.03, "eps": 1e-6}),
    "adamw": (ADAMW, {"lr": 0.01}),
    "adamw_low_betas": (ADAMW, {"lr": 0.01, "betas": (0.4, 0.9), "weight_decay": 0.1}),
}
WITH_DENSE_GRADIENT = {"sgd_momentum", "adagrad_decay", "adam_decay", "adamw"}


def batches():
    """The table, then (learning rate's factor, ids, dout, dtable) of each step."""
    generator = torch.Generator().manual_seed(7)
    yield torch.randn(V, D, generator=generator)
    for step in range(1, KEPT[-1] + 1):
        rows = V // 2 if step <= 20 else V  # half of the rows wait for their first gradient
        ids = torch.randint(0, rows, (B, T), generator=generator)
        yield ((1 + step % 7) / 4, ids, torch.randn(B, T, D, generator=generator),
               torch.randn(V, D, generator=generator))


def table_and_steps():
    stream = batches()
    return next(stream), stream


def lookup_gradient(table, ids, dout):
    weight = table.detach().clone().requires_grad_()
    torch.nn.functional.embedding(ids, weight).backward(dout)
    return weight.grad


def dense_semantics(kind, options, with_dtable=False, **variant):
    table, steps = table_and_steps()
    weight = torch.nn.Parameter(table)
    optimizer = kind([weight], **options, **variant)
    for factor, ids, dout, dtable in steps:
        optimizer.param_groups[0]["lr"] = options["lr"] * factor
        weight.grad = lookup_gradient(weight, ids, dout)
        if with_dtable:
            weight.grad += dtable
        optimizer.step()
        yield {"weight": weight.detach()} | {
            name: value for name, value in optimizer.state[weight].items() if name != "step" and value is not None}


def sparse_adam():
    table, steps = table_and_steps()
    weight = torch.nn.Parameter(table)
    optimizer = torch.optim.SparseAdam([weight], lr=0.01)
    for factor, ids, dout, _ in steps:
        optimizer.param_groups[0]["lr"] = 0.01 * factor
        rows = ids.unique()  # the sum in ascending order of places; a sparse gradient of PyTorch's own sums otherwise
        weight.grad = torch.sparse_coo_tensor(rows[None], lookup_gradient(weight, ids, dout)[rows], weight.shape)
        optimizer.step()
        state = optimizer.state[weight]
        yield {"weight": weight.detach(), "exp_avg": state["exp_avg"], "exp_avg_sq": state["exp_avg_sq"]}


def sparse_adamw():
    """AdamW's fused kernel on the touched rows, with the count of all steps."""
    weight, steps = table_and_steps()
    moments = torch.zeros(V, D), torch.zeros(V, D)
    for step, (factor, ids, dout, _) in enumerate(steps, 1):
        rows = ids.unique()
        parts = [tensor[rows] for tensor in (weight, lookup_gradient(weight, ids, dout), *moments)]
        torch._fused_adamw_(*([part] for part in parts), [], [torch.tensor(float(step))], lr=0.01 * factor, beta1=0.9,
                            beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False)
        weight[rows], moments[0][rows], moments[1][rows] = parts[0], parts[2], parts[3]
        yield {"weight": weight, "exp_avg": moments[0], "exp_avg_sq": moments[1]}


def rowwise_adagrad():
    from fbgemm_gpu.split_embedding_configs import EmbOptimType
    from fbgemm_gpu.split_table_batched_embeddings_ops_common import EmbeddingLocation, PoolingMode
    from fbgemm_gpu.split_table_batched_embeddings_ops_training import (
        ComputeDevice, SplitTableBatchedEmbeddingBagsCodegen)

    table, steps = table_and_steps()
    layer = SplitTableBatchedEmbeddingBagsCodegen(
        [(V, D, EmbeddingLocation.HOST, ComputeDevice.CPU)], optimizer=EmbOptimType.EXACT_ROWWISE_ADAGRAD,
        pooling_mode=PoolingMode.SUM, learning_rate=0.1, eps=1e-8)
    weight = layer.split_embedding_weights()[0]
    weight.data.copy_(table)
    for factor, ids, dout, _ in steps:
        layer.set_learning_rate(0.1 * factor)
        layer(ids.flatten(), torch.arange(B * T + 1)).backward(dout.reshape(B * T, D))
        yield {"weight": weight, "sum": layer.split_optimizer_states()[0][0]}


def cases():
    for name, (kind, options) in DENSE_SEMANTICS.items():
        yield name, dense_semantics(kind, options, fused=True)
        if name in WITH_DENSE_GRADIENT:
            yield name + "_tied", dense_semantics(kind, options, with_dtable=True, fused=True)
    yield "sparse_adam", sparse_adam()
    yield "sparse_adamw", sparse_adamw()
    yield "rowwise_adagrad", rowwise_adagrad()


def write_golden():
    from safetensors.torch import save_file

    tensors = {}
    for name, states in cases():
        for step, state in enumerate(states, 1):
            if step in KEPT:
                tensors |= {f"{name}/{step}/{part}": value.detach().clone() for part, value in state.items()}
    save_file(tensors, DATA / "optimizers.safetensors")
    header = f"# tools/make_optimizer_golden.py: torch {torch.__version__}\n"
    (DATA / "schedules.txt").write_text(header + "".join(line + "\n" for line in schedules()))


def schedules():
    """The published formulas, as factors of the peak; steps count from 1."""
    peak, floor, warmup, steps, stable, decay = 3e-4, 0.1, 5, 30, 10, 15

    def warm(step, later):
        return step / warmup if step <= warmup else later

    def cosine(step):
        progress = min(1.0, (step - warmup) / (steps - warmup))
        return warm(step, floor + (1 - floor) * 0.5 * (1 + math.cos(math.pi * progress)))

    def wsd(step, least, shape):
        progress = min(1.0, max(0, step - warmup - stable) / decay)
        return warm(step, least + (1 - least) * shape(progress))

    factors = {"constant": lambda step: warm(step, 1.0), "cosine": cosine,
               "wsd_sqrt": lambda step: wsd(step, floor, lambda x: 1 - math.sqrt(x)),
               "wsd_linear": lambda step: wsd(step, 0.0, lambda x: 1 - x)}
    for name, factor in factors.items():
        optimizer = SGD([torch.zeros(1, requires_grad=True)], lr=peak)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda count, factor=factor: factor(count + 1))
        for step in range(1, 36):
            yield f"{name} {step} {optimizer.param_groups[0]['lr']!r}"
            optimizer.step()
            scheduler.step()


def print_clip():
    generator = torch.Generator().manual_seed(11)
    parameters = [torch.nn.Parameter(torch.zeros(count)) for count in (3000, 1001)]
    for parameter in parameters:
        parameter.grad = torch.randn(parameter.shape, generator=generator)
    print("norm", torch.nn.utils.clip_grad_norm_(parameters, 1.0, error_if_nonfinite=True).item())
    print("wte", parameters[0].grad[:4].tolist())


def print_variants():
    """How far a step of another variant is, from the same start, in units in the last place of the larger of the
    weight before and after it."""
    for name, (kind, options) in DENSE_SEMANTICS.items():
        for variant in ({"foreach": False}, {"foreach": True}):
            worst = {}
            differ = 0
            fused, other = dense_semantics(kind, options, fused=True), dense_semantics(kind, options, **variant)
            before = table_and_steps()[0]
            mine, theirs = next(fused), next(other)
            for part, value in mine.items():
                size = np.maximum(np.abs(value.numpy()), np.abs(before.numpy()) if part == "weight" else 0)
                units = np.abs(value.numpy().astype(np.float64) - theirs[part].numpy()) / np.spacing(size)
                worst[part] = float(units.max())
                differ += int((value != theirs[part]).sum())
            print(name, variant, "numbers that differ:", differ, "most units:", worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clip", action="store_true", help="print a norm and clipped numbers")
    parser.add_argument("--variants", action="store_true", help="print how far the other variants are")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.clip:
        print_clip()
    elif arguments.variants:
        print_variants()
    else:
        write_golden()


if __name__ == "__main__":
    main()
