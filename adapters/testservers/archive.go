package testservers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// ClassArchive makes the Java machine archive the classes that a program loads. The program is in a jar of [Jar], has
// YARN's jars after it on the class path, and ends by itself. ClassArchive returns the path of the archive, in the
// cache beside the jar. Programs whose class path begins in the same way start faster with it.
func ClassArchive(ctx context.Context, jar, main string) (string, error) {
	archive, err := classArchive(ctx, jar, main)
	if err != nil {
		return "", fmt.Errorf("testservers: archiving the classes of %s: %w", jar, err)
	}
	return archive, nil
}

func classArchive(ctx context.Context, jar, main string) (string, error) {
	jars, err := yarnJars(ctx)
	if err != nil {
		return "", err
	}
	out, java, err := archiveOf(strings.TrimSuffix(jar, ".jar"), jars, main)
	if err != nil {
		return "", err
	}
	return out, once(ctx, func(parts []string) error {
		cmd := exec.CommandContext(ctx, java, "-XX:ArchiveClassesAtExit="+parts[0], "-XX:+UseSerialGC", "-cp",
			jar+":"+filepath.Join(jars, "*"), main)
		cmd.Env = append(os.Environ(), "NM_HOST=localhost")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
		}
		return nil
	}, out)
}

// archiveOf is the path of an archive. It depends on the Java machine, since another one cannot use the archive.
func archiveOf(stem, jars, main string) (out, java string, err error) {
	java, home, err := javaTools("java")
	if err != nil {
		return "", "", err
	}
	release, err := os.ReadFile(filepath.Join(home, "release"))
	if err != nil {
		return "", "", err
	}
	key := digest(map[string][]byte{"java": []byte(java), "release": release, "jars": []byte(jars), "main": []byte(main)})
	return fmt.Sprintf("%s-%x.jsa", stem, key), java, nil
}

// once makes files of the cache unless all of them exist. make writes them nearby, and then each is moved to its place
// atomically. Several processes may call it at the same time.
func once(ctx context.Context, make func(parts []string) error, outs ...string) error {
	unlock, err := lock(ctx, outs[0]+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	var parts []string
	missing := false
	for _, out := range outs {
		if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) {
			missing = true
		} else if err != nil {
			return err
		}
		parts = append(parts, out+".part")
	}
	if !missing {
		return nil
	}
	if err := remove(parts); err != nil {
		return err
	}
	defer remove(parts) //nolint:errcheck // they are not there any more, or the next ones are written over them
	if err := make(parts); err != nil {
		return err
	}
	for i, out := range outs {
		if err := os.Rename(parts[i], out); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes files that may not exist.
func remove(paths []string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// archivesOf are the paths of the archives of the classes of YARN's servers.
func archivesOf(jars string) (a yarnArchives, err error) {
	if a.manager, _, err = archiveOf(jars, jars, managerClass); err == nil {
		a.node, _, err = archiveOf(jars, jars, nodeClass)
	}
	return a, err
}

// archiveServers makes those archives, in the cache beside the jars, unless both exist. It starts and ends a
// ResourceManager and a NodeManager.
func archiveServers(ctx context.Context, jars string) error {
	a, err := archivesOf(jars)
	if err != nil {
		return err
	}
	return once(ctx, func(parts []string) error {
		return rehearse(ctx, jars, yarnArchives{manager: parts[0], node: parts[1]})
	}, a.manager, a.node)
}

// rehearse runs a ResourceManager and a NodeManager that write archives when they end.
func rehearse(ctx context.Context, jars string, to yarnArchives) error {
	dir, err := os.MkdirTemp("", "hedge-testservers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what stays is in the temporary folder
	y := &YARN{cfg: YARNConfig{Dir: dir, Nodes: []YARNNode{{Name: "n"}}}, jars: jars, archives: to, makes: true}
	defer y.Stop()
	if err := y.start(ctx); err != nil {
		return err
	}
	for _, part := range []struct{ name, archive string }{{"n", to.node}, {ResourceManager, to.manager}} {
		y.Terminate(part.name)
		if _, err := os.Stat(part.archive); err != nil {
			return fmt.Errorf("%s has made no archive: %w: %s", part.name, err, y.Log(part.name))
		}
	}
	return nil
}
