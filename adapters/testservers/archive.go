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

// ClassArchive has the Java machine archive the classes that a program loads, which is in a jar of [Jar] and has YARN's jars behind it, and ends by itself; and
// returns the path of the archive, which is in the cache beside the jar. Programs start faster with it whose class path begins so.
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
	return out, once(ctx, out, func(part string) error {
		cmd := exec.CommandContext(ctx, java, "-XX:ArchiveClassesAtExit="+part, "-XX:+UseSerialGC", "-cp", jar+":"+filepath.Join(jars, "*"), main)
		cmd.Env = append(os.Environ(), "NM_HOST=localhost")
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
		}
		return nil
	})
}

// archiveOf is where an archive stands once it was made: another Java machine makes nothing of it.
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

// once makes a file of the cache if it is not there: make writes it somewhere near, and it is put in its place in one piece. Several processes may ask at the same time.
func once(ctx context.Context, out string, make func(part string) error) error {
	unlock, err := lock(ctx, out+".lock")
	if err != nil {
		return err
	}
	defer unlock()
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	part := out + ".part"
	defer os.Remove(part) //nolint:errcheck // it is not there any more, or the next one is written over it
	if err := errors.Join(remove(part), make(part)); err != nil {
		return err
	}
	return os.Rename(part, out)
}

// remove takes a file away that may not be there.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// archivesOf is where the archives of the classes of YARN's servers stand once they were made.
func archivesOf(jars string) (a yarnArchives, err error) {
	if a.manager, _, err = archiveOf(jars, jars, managerClass); err == nil {
		a.node, _, err = archiveOf(jars, jars, nodeClass)
	}
	return a, err
}

// archiveServers makes them, in the cache beside the jars, unless they are there: a ResourceManager and a NodeManager start and end.
func archiveServers(ctx context.Context, jars string) error {
	a, err := archivesOf(jars)
	if err != nil {
		return err
	}
	return once(ctx, a.manager, func(part string) error {
		return errors.Join(remove(a.node), rehearse(ctx, jars, yarnArchives{part, a.node}))
	})
}

// rehearse runs a ResourceManager and a NodeManager that write archives as they end.
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
