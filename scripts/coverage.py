#!/usr/bin/env python3
"""Writes docs/coverage.md: every public name of JAX's modules, and what nax has for it.

usage: scripts/coverage.py TABLE_TEST [compiler]     (with a Python that has JAX; Eigen where the compiler finds it)

The compiler says what there is: one file declares `using nax::name;` for every name, and what it complains of is
missing. What is missing has a reason in MISSING below, or none yet. TABLE_TEST, the program of tests/table, is run on the CPU and on
emulated GPUs and says what its rows check; a name without a row is "tested" where another test calls it.
"""

import glob
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import types

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# module, namespaces that may have the name, the first of which is where it is looked for first
MODULES = [
    ("jax.numpy", ["", "nn", "special"]),
    ("jax.numpy.linalg", ["linalg", ""]),
    ("jax.numpy.fft", ["fft"]),
    ("jax.scipy.linalg", ["linalg", ""]),
    ("jax.scipy.special", ["special", "", "nn"]),
    ("jax.random", ["random", ""]),
    ("jax.nn", ["nn", "", "special"]),
    ("jax.nn.initializers", ["nn::initializers"]),
    ("jax.lax", ["lax", "", "special", "linalg", "nn"]),
    ("jax", [""]),
]

# Another spelling: a keyword of C++, or a word of nax's own.
RENAMED = {
    "delete": "delete_", "switch": "switch_", "while": "while_", "bool": "the type bool", "double": "the type double",
    "dtype": "DType", "ndarray": "Array", "PRNGKey": "random::key", "Array": "Array", "device_put": "device_put",
    "make_jaxpr": "make_program", "named_scope": "profiler::Scope", "default_matmul_precision": "set_matmul_precision",
    "process_count": "distributed::process_count", "process_index": "distributed::process_index",
}
# Where a module has no function of that name in nax, NumPy's does the same.
NUMPYS = {
    "jax.lax": dict(pair.split(":") for pair in (
        "eq:equal ne:not_equal lt:less le:less_equal gt:greater ge:greater_equal mul:multiply sub:subtract div:divide neg:negative "
        "rem:fmod clamp:clip erf_inv:erfinv logistic:expit is_finite:isfinite population_count:bitwise_count "
        "shift_left:left_shift shift_right_arithmetic:right_shift rev:flip select_n:choose convert_element_type:astype "
        "iota:arange igamma:gammainc igammac:gammaincc reduce_sum:sum reduce_max:max reduce_min:min reduce_prod:prod "
        "reduce_and:all reduce_or:any collapse:reshape batch_matmul:matmul broadcast:broadcast_to bessel_i0e:i0e "
        "bessel_i1e:i1e dot_general:einsum integer_pow:power cummax:cumulative_max "
        "index_take:take sort_key_val:argsort").split()),
    "jax": {"remat": "checkpoint", "custom_gradient": "custom_vjp", "fwd_and_bwd": "vjp", "live_arrays": "memory_stats"},
}
IS_CPP = {"bool", "double"}

# Why a name is not there.
OBJECT = "an array has one element type, known to the compiler; Python objects and strings are none"
SMALL = "a type of 4, 6 or 8 bits: none of nax's"
BRACKETS = "syntax of Python's brackets: a(slice(...), i) says the same"
MISSING = {
    "jax.numpy": {
        "object_": OBJECT, "character": OBJECT, "flexible": OBJECT,
        "ComplexWarning": "a class of Python's warnings",
        "s_": BRACKETS, "index_exp": BRACKETS,
        "frompyfunc": "vectorize maps any function; reduce and accumulate are sum, max, cumulative_sum ...",
        "ufunc": "functions are functions: their methods are sum, cumulative_sum, at(...).add, outer ...",
    },
}
for name in ("float4_e2m1fn float6_e2m3fn float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn "
             "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu int1 int2 int4 uint1 uint2 uint4").split():
    MISSING["jax.numpy"][name] = SMALL
INDEXING = "a(...) and a.at(...) index, cut and scatter"
MISSING["jax.lax"] = dict.fromkeys((
    "dynamic_index_in_dim dynamic_slice dynamic_slice_in_dim dynamic_update_index_in_dim dynamic_update_slice "
    "dynamic_update_slice_in_dim gather scatter scatter_add scatter_apply scatter_max scatter_min scatter_mul "
    "scatter_sub slice_in_dim index_in_dim broadcast_in_dim broadcast_like broadcast_to_rank").split(), INDEXING)
REASONS = {
    "the element type and the shape are those of the array: value_type, shape(), dtype()":
        {"jax": "typeof ShapeDtypeStruct float0", "jax.nn.initializers": "Initializer", "jax.random": "key_dtype key_impl"},
    "a setting of Python's arrays or of XLA: nax's types are C++'s, its numbers threefry's":
        {"jax": "config numpy_dtype_promotion numpy_rank_promotion default_prng_impl enable_custom_prng enable_x64 enable_checks "
                "threefry_partitionable legacy_prng_key softmax_custom_jvp allow_f16_reductions debug_key_reuse make_user_context "
                "jax2tf_associative_scan_reductions print_environment_info thread_guard memory",
         "jax.random": "clone", "jax.lax": "rng_bit_generator rng_uniform"},
    "functions are recorded at their first call, and each C++ function is one; nothing else is staged":
        {"jax": "ensure_compile_time_eval closure_convert named_call checking_leaks check_tracer_leaks no_tracing no_execution "
                "log_compiles explain_cache_misses array_garbage_collection_guard checkpoint_policies clear_caches",
         "jax.lax": "composite stage dce_sink optimization_barrier platform_dependent shape_as_value"},
    "arrays are values, and effects those of C++: a recorded function computes with arrays alone":
        {"jax": "Ref new_ref empty_ref free_ref freeze ds effects_barrier pure_callback", "jax.lax": "after_all create_token"},
    "placement is device_put, pmap's shards and distributed::initialize; nax has no meshes":
        {"jax": "NamedSharding P Shard set_mesh make_mesh reshard shard_map smap auto_pcast remove_size_one_mesh_axis_from_type "
                "make_array_from_callback make_array_from_process_local_data make_array_from_single_device_arrays "
                "transfer_guard transfer_guard_device_to_device transfer_guard_device_to_host transfer_guard_host_to_device "
                "copy_to_host_async",
         "jax.lax": "with_sharding_constraint pcast pvary psend precv ragged_all_to_all"},
    "an option of a call in nax, or a shape that the call finds itself":
        {"jax.lax": "AccuracyMode ConvDimensionNumbers ConvGeneralDilatedDimensionNumbers DotAlgorithm DotAlgorithmPreset "
                    "DotDimensionNumbers FftType GatherDimensionNumbers GatherScatterMode PrecisionLike RaggedDotDimensionNumbers "
                    "RandomAlgorithm RoundingMethod ScatterDimensionNumbers Tolerance conv_dimension_numbers "
                    "conv_general_permutations conv_general_shape_tuple conv_shape_tuple conv_transpose_shape_tuple "
                    "padtype_to_pads reduce_window_shape_tuple",
         "jax.nn": "get_scaled_dot_general_config scaled_matmul"},
    "a module that JAX's package shows by chance, or a name that it has deprecated":
        {"jax": "ad host_count host_id host_ids process_indices"},
}
for reason, by_module in REASONS.items():
    for module, names in by_module.items():
        MISSING.setdefault(module, {}).update({name: reason for name in names.split()})


def public_names(module):
    m = importlib.import_module(module)
    names = []
    for name in dir(m):
        if name.startswith("_") or (module == "jax.lax" and name.endswith("_p")):
            continue
        value = getattr(m, name)
        if isinstance(value, types.ModuleType):
            continue
        names.append((name, kind_of(value)))
    return names


def kind_of(value):
    if isinstance(value, type) or type(value).__name__ == "_ScalarMeta":
        return "type"
    return "function" if callable(value) else "constant"


def declared(names, compiler):
    """Which of these qualified names the headers declare."""
    names = sorted(names)
    lines = ["#include <nax/nax.hpp>"] + [f"void f{i}() {{ using {n}; }}" for i, n in enumerate(names)]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-fmax-errors=0", "-DNAX_COMPILED", "-I", ROOT + "/include",
               "-isystem", "/usr/include/eigen3", "-x", "c++", "-"]
    run = subprocess.run(command, input="\n".join(lines) + "\n", capture_output=True, text=True)
    wrong = {names[int(m[1]) - 2] for m in re.finditer(r"<stdin>:(\d+):\d+: error", run.stderr)}
    if "error" in run.stderr and not wrong:
        sys.exit(run.stderr)
    return set(names) - wrong


def rows_of(program, platform):
    """Entries of the table's tests in GoogleTest's report, by function."""
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/report.json"
        run = subprocess.run([program, "--gtest_filter=Table.*", "--gtest_output=json:" + path],
                             env={**os.environ, "NAX_TEST_PLATFORM": platform}, capture_output=True, text=True)
        if run.returncode:
            sys.exit(run.stdout[-2000:])
        with open(path) as file:
            return {test["name"]: test for suite in json.load(file)["testsuites"] for test in suite["testsuite"]}


def table_columns(program):
    """By function: the columns derivatives, vmap, GPU and types of what the table checks."""
    on_gpu = rows_of(program, "cuda")
    columns = {}
    for name, test in rows_of(program, "cpu").items():
        derivatives = ("none", "grad jvp", "grad jvp hessian")[int(test["derivatives"])]
        gpu = "yes" if on_gpu[name]["result"] == "COMPLETED" else "refused"
        columns[name] = f"table | {derivatives} | yes | {gpu} | {test['types']}"
    return columns


def called():
    """Which functions tests call."""
    calls = set()
    for path in glob.glob(ROOT + "/tests/**/*.cpp", recursive=True):
        with open(path) as file:
            calls.update(re.findall(r"\b([A-Za-z_]\w*)(?:<[^<>()]*>)?\(", file.read()))
    return calls


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    compiler = sys.argv[2] if len(sys.argv) > 2 else "g++"
    modules = {module: public_names(module) for module, _ in MODULES}
    candidates = set()
    for module, spaces in MODULES:
        for name, _ in modules[module]:
            own = RENAMED.get(name, name)
            if name not in IS_CPP and own:
                candidates.update("nax::" + (s + "::" if s else "") + own.split("::")[-1] for s in spaces)
                if "::" in own:
                    candidates.add("nax::" + own)
            other = NUMPYS.get(module, {}).get(name)
            if other:
                candidates.update("nax::" + (s + "::" if s else "") + other for s in spaces)
    there = declared(candidates, compiler)
    columns, calls = table_columns(sys.argv[1]), called()

    import jax
    head, tables = [], []
    for module, spaces in MODULES:
        lines, count, functions, total_functions = [], 0, 0, 0
        for name, kind in modules[module]:
            own = RENAMED.get(name, name)
            found = None
            if name in IS_CPP:
                found = own
            elif own:
                options = ["nax::" + own] if "::" in own else ["nax::" + (s + "::" if s else "") + own for s in spaces]
                found = next((o for o in options if o in there), None)
                other = NUMPYS.get(module, {}).get(name)
                if not found and other:
                    found = next((o for o in ("nax::" + (s + "::" if s else "") + other for s in spaces) if o in there),
                                 None)
            total_functions += kind == "function"
            if found:
                count += 1
                functions += kind == "function"
                short = found.split("::")[-1]
                checked = kind if kind != "function" else columns.get(short, "tested" if short in calls else "")
                lines.append(f"| {name} | `{found.removeprefix('nax::')}` | {checked}{' |' * (5 - checked.count('|'))}")
            else:
                lines.append(f"| {name} | - | {MISSING.get(module, {}).get(name, '')} | | | | |")
        head.append(f"| {module} | {functions} | {total_functions} | {count} | {len(modules[module])} |")
        tables += [f"\n## {module}\n", "| name | nax | checked by | derivatives | vmap | GPU | types |", "|" + " --- |" * 7] + lines

    text = f"""# What there is

Every public name of JAX {jax.__version__}'s modules, and nax's: written by `scripts/coverage.py`, which asks the compiler.
"table": `tests/table` has rows of the function, which compare values with JAX's or NumPy's, gradients with differences and
with `jvp`, `vmap` with a loop, views with copies; the columns say which of it applies, whether the same passes on (emulated)
GPUs or is refused there by a `DeviceError` that says so, and the types whose values are compared. "tested": another test calls
it. What composes such functions has their derivatives and batches as they do.

| module | functions in nax | of | names in nax | of |
| --- | --- | --- | --- | --- |
""" + "\n".join(head) + "\n" + "\n".join(tables) + "\n"
    with open(ROOT + "/docs/coverage.md", "w") as file:
        file.write(text)
    print("\n".join(head))


if __name__ == "__main__":
    main()
