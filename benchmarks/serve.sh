#!/usr/bin/env bash
# bash benchmarks/serve.sh [options of serve]: requests a second and latencies of examples/serve with a 784-128-10 network, the
# server on one core, wrk (Debian's package) on another; then again while the model is replaced ten times, which takes its share of
# the core. CONNECTIONS and SECONDS_EACH change the load. Every answer must have status 200.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${NAX_BENCHMARKS_BUILD:-$root/build/release}
for tool in wrk taskset curl; do command -v $tool >/dev/null || { echo "$tool is not installed" >&2; exit 1; }; done
[[ -e $build/build.ninja ]] || (cd "$root" && cmake --preset release -DNAX_BUILD_TESTS=OFF) >&2
cmake --build "$build" --target serve mnist_mlp >&2
scratch=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$scratch"' EXIT

"$build/examples/mnist_mlp" --hidden 128 --epochs 1 --save "$scratch/mlp.safetensors" >&2
cat >"$scratch/post.lua" <<'LUA'
wrk.method = "POST"
wrk.body = string.rep(string.char(0, 0, 0, 63), 784)  -- 0.5 each
wrk.headers["Content-Type"] = "application/octet-stream"
LUA
mkfifo "$scratch/out"
taskset -c 0 "$build/examples/serve/serve" --model "$scratch/mlp.safetensors" --port 0 "$@" >"$scratch/out" &
server=$!
exec 3<"$scratch/out"
read -r line <&3
url=${line##* }
run() { taskset -c 1 wrk -t1 -c"${CONNECTIONS:-12}" -d"$1" --latency -s "$scratch/post.lua" "$url/predict"; }
show() { grep -E '50%|90%|99%|Requests/sec|Non-2xx|Socket errors' "$scratch/wrk"; }
run 1 >/dev/null # warms up
run "${SECONDS_EACH:-5}" >"$scratch/wrk"
show
echo "while the model is replaced:"
run "${SECONDS_EACH:-5}" >"$scratch/wrk" &
load=$!
for _ in {1..10}; do sleep 0.3; curl -sf -d '' "$url/reload" >/dev/null; done
wait $load
show
curl -sf "$url/metrics" | grep -E 'quantile=|batches_total |rows_total |reloads_total |code="[45]' | grep -v '^#'
kill $server
wait $server
