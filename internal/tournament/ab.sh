#!/usr/bin/env bash
# Compares the benchmarks of this tree with those of a revision: "make ab". It interleaves the runs, so that what slows the
# machine for a while slows both, and measures the old tree twice: the difference of that control pair is what the machine
# alone can feign. Stock benchstat has the word.
set -euo pipefail
cd "$(dirname "$0")/../.."

old=$(git rev-parse --verify "$1^{commit}")
go=${GO:-go}
rounds=${ROUNDS:-20}
if [ "$rounds" -lt 10 ]; then
	echo "ab: $rounds rounds tell nothing: ROUNDS is at least 10" >&2
	exit 2
fi

here=$PWD
out=$here/bin/ab
there=$out/$old
if [ ! -d "$there" ]; then
	rm -rf "$there.part"
	mkdir -p "$there.part"
	git archive "$old" | tar -x -C "$there.part"
	mv "$there.part" "$there"
fi

# run TREE FOLDER PATTERN TIME: what the benchmarks of a package in a tree print.
run() {
	(cd "$1/$2" && "$out/$(basename "$1")-${2//\//_}.test" -test.run='^$' -test.bench="$3" -test.benchtime="$4" -test.benchmem)
}

# Each line of cells is a folder and a pattern that matches one benchmark.
cells=
for folder in ${PKG:-./internal/tournament}; do
	folder=${folder#./}
	for tree in "$there" "$here"; do
		(cd "$tree" && "$go" test -c -trimpath -vet=off -o "$out/$(basename "$tree")-${folder//\//_}.test" "./$folder")
	done
	found=$(run "$here" "$folder" "${BENCH:-/impl=main}" 1x | sed -nE 's/^(Benchmark[^[:space:]]+).*/\1/p' |
		sed -E 's/-[0-9]+$//; s/[][(){}.*+?|\\^$]/\\&/g; s,/,$/^,g; s/.*/^&$/' | sort -u)
	[ -n "$found" ] || { echo "ab: $folder has no benchmark that matches ${BENCH:-/impl=main}" >&2; exit 2; }
	cells+=$(sed "s,^,$folder ," <<<"$found")$'\n'
done

rm -f "$out"/{old,control,new}.txt
orders=("old control new" "old new control" "control old new" "control new old" "new old control" "new control old")
for round in $(seq "$rounds"); do
	echo "round $round of $rounds" >&2
	while read -r folder pattern; do
		for side in ${orders[RANDOM % 6]}; do
			tree=$there
			[ "$side" != new ] || tree=$here
			run "$tree" "$folder" "$pattern" "${BENCHTIME:-50ms}" >>"$out/$side.txt" </dev/null || { tail "$out/$side.txt" >&2; exit 2; }
		done
	done <<<"${cells%$'\n'}"
done
cd internal/tournament
exec "$go" tool benchstat old="$out/old.txt" control="$out/control.txt" new="$out/new.txt"
