//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package main

// The station that runs the command siege.

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// besieged runs siege for the rest of the station's time. A violation there is a failure here.
func besieged(r *run) {
	until, _ := r.ctx.Deadline()
	if r.finished() {
		return
	}
	folder, err := os.MkdirTemp("", "soak")
	if err != nil {
		r.failf("%v", err)
		return
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "siege")
	var build, work tally
	build.once(r.begun, mostTime, "", nil, goCommand, "build", "-o", binary, "./internal/siege")
	if build.failed > 0 {
		r.failf("siege does not compile:\n%s", build.output)
	}
	if build.passed == 0 {
		return
	}
	left := time.Until(until)
	work.once(r.begun, left+mostTime, "", nil, binary, "-time", left.String(), "-cells", fmt.Sprint(r.target), "-seed", fmt.Sprint(r.seed))
	r.addSiege(work)
}

var siegeSums = regexp.MustCompile(`(?m)^siege: (\d+) of \d+ cells in `)

// addSiege adds what siege has found to the run.
func (r *run) addSiege(work tally) {
	if sums := siegeSums.FindSubmatch(work.output); sums != nil {
		cells, _ := strconv.ParseInt(string(sums[1]), 10, 64)
		r.reached.Store(cells)
	}
	if work.failed > 0 {
		r.failf("siege fails: %s\n%s", firstFailure(work.output), work.output)
	}
}
