#!/usr/bin/env bash
# bash same_cnn.sh MNIST_CNN: trains mnist_cnn on the CPU and on a GPU, on stripes whose places are the labels. Fails unless
# both print the same losses and accuracies, and the last accuracy is 1.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 - "$scratch" <<'END'
import random, struct, sys
random.seed(1)
for name, n in ("train", 256), ("t10k", 100):
    labels, pixels = [i % 10 for i in range(n)], bytearray()
    for label in labels:
        image = [random.randrange(40) for _ in range(784)]
        for row in range(5, 23):
            for column in range(2 + 2 * label, 5 + 2 * label):
                image[28 * row + column] = 220
        pixels += bytes(image)
    with open(f"{sys.argv[1]}/{name}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 0x803, n, 28, 28) + pixels)
    with open(f"{sys.argv[1]}/{name}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 0x801, n) + bytes(labels))
END
for platform in cpu cuda; do
  $1 --data "$scratch" --epochs 2 --batch-size 32 --platform $platform >"$scratch/$platform.txt" 2>"$scratch/errors.txt" ||
    { cat "$scratch/errors.txt"; echo "$1 --platform $platform: failed"; exit 1; }
  tr '\r' '\n' <"$scratch/$platform.txt" | sed -n 's/^\(epoch [0-9]*\)  [.0-9]* s  loss \([.0-9]*\)[0-9]  /\1  loss \2  /p; /^test/p' \
    >"$scratch/$platform.lines"
done
cat "$scratch/cuda.lines"
diff "$scratch/cpu.lines" "$scratch/cuda.lines"
test "$(tail -n 1 "$scratch/cuda.lines")" = "test accuracy: 1.0000"
