package testservers

import (
	"fmt"
	"io"
	"os/exec"
	"syscall"
)

// reaper is a process that clears away a cluster's processes and mounts if this process ends without having done so, as
// a killed or timed-out test does. It waits for a word. If none comes and nobody is left to write one, it begins.
type reaper struct {
	cmd  *exec.Cmd
	word io.WriteCloser
}

// reap is the reaper's program. It runs three rounds, since it may miss what is being started.
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

// dismiss ends the reaper, as nothing is left to clear away. It may be called again.
func (r *reaper) dismiss() {
	if r == nil || r.word == nil {
		return
	}
	_, _ = io.WriteString(r.word, "done\n") // where it has gone there is nobody to tell
	r.abandon()
}

// abandon leaves the reaper alone, like the end of this process, and waits until it has done its work.
func (r *reaper) abandon() {
	_ = r.word.Close()
	_ = r.cmd.Wait()
	r.word = nil
}
