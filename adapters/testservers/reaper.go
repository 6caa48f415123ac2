package testservers

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// reaper is a process that clears away what a cluster has left, processes and mounts, if this one ends without having
// done so: a test that is killed, or takes too long, has no say in it. It waits for a word; where none comes and nobody
// is left to write one, it begins.
type reaper struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// reap is the reaper's program, of the cluster's folder. It takes three rounds, as what is being started may be missed.
const reap = `read -r word && exit 0
for round in 1 2 3; do
	{
		grep -lsF "HEDGE_TESTSERVERS=$1/" /proc/[0-9]*/environ
		find /proc -maxdepth 2 -path '/proc/[0-9]*/cwd' -printf '%p %l\n' 2>/dev/null | while read -r proc at; do
			case "$at" in "$1"/*) echo "$proc" ;; esac
		done
	} | cut -d/ -f3 | while read -r pid; do kill -9 "$pid" 2>/dev/null; done
	cut -d' ' -f2 /proc/mounts | while read -r at; do
		case "$at" in "$1"/*) umount -l "$at" ;; esac
	done
done`

// newReaper starts one.
func newReaper(dir string) (*reaper, error) {
	r := &reaper{cmd: exec.Command("/bin/sh", "-c", reap, "sh", dir)}
	r.cmd.Dir, r.cmd.SysProcAttr = "/", &syscall.SysProcAttr{Setsid: true} // what ends this one must not end it
	var err error
	if r.word, err = r.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := r.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the reaper: %w", err)
	}
	return r, nil
}

// dismiss ends it, as nothing is left. What has been dismissed may be so again.
func (r *reaper) dismiss() {
	if r == nil || r.word == nil {
		return
	}
	_, _ = io.WriteString(r.word, "done\n") // where it has gone there is nobody to tell
	r.abandon()
}

// abandon leaves it alone, as the end of this process does, and waits until it has done its work.
func (r *reaper) abandon() {
	_ = r.word.Close()
	_ = r.cmd.Wait()
	r.word = nil
}
