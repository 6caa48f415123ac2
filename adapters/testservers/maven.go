package testservers

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Jar builds the Maven project in a folder and returns the path of its jar, which is in the cache: it is built again
// only when the project's pom.xml or something in its src/main has changed. Several processes may ask at the same time.
func Jar(ctx context.Context, dir string) (string, error) {
	files, err := project(dir)
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	var jar string
	if err == nil {
		jar, err = maven(ctx, filepath.Base(dir), files, jarMade)
	}
	if err != nil {
		return "", fmt.Errorf("testservers: building the jar of %s: %w", dir, err)
	}
	return jar, nil
}

// jarMade is the jar that a Maven project makes.
const jarMade = "target/*.jar"

// jarPlace is where the jar of a Maven project is once it was built, and the project's full path.
func jarPlace(dir string) (full, jar string, err error) {
	files, err := project(dir)
	if err == nil {
		full, err = filepath.Abs(dir)
	}
	if err == nil {
		jar, err = made(filepath.Base(full), files, jarMade)
	}
	return full, jar, err
}

// project reads what the jar of a Maven project is made of.
func project(dir string) (map[string][]byte, error) {
	tree := os.DirFS(dir)
	pom, err := fs.ReadFile(tree, "pom.xml")
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{"pom.xml": pom}
	err = fs.WalkDir(tree, "src/main", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = fs.ReadFile(tree, name)
		return err
	})
	return files, err
}

// yarnLib is what the Maven project of the jars that YARN's servers are made of, and its clients, makes: their folder.
const yarnLib = "target/lib"

func yarnProject() (map[string][]byte, error) {
	pom, err := modules.ReadFile("servers/yarn.pom.xml")
	return map[string][]byte{"pom.xml": pom}, err
}

// yarnJars is the folder of YARN's jars.
func yarnJars(ctx context.Context) (string, error) {
	files, err := yarnProject()
	if err != nil {
		return "", err
	}
	return maven(ctx, "yarn", files, yarnLib)
}

// yarnPlace is where that folder is once it was made.
func yarnPlace() (string, error) {
	files, err := yarnProject()
	if err != nil {
		return "", err
	}
	return made("yarn", files, yarnLib)
}

// made is where in the cache stands what Maven made of a project.
func made(name string, files map[string][]byte, product string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(cache, "hedge", "testservers",
		fmt.Sprintf("%s-%x%s", name, digest(files), filepath.Ext(product))), nil
}

// maven has Maven package a project and puts what it has made into the cache, under a name that has the digest of the
// project's files. Product is a pattern that one path in the project matches then.
func maven(ctx context.Context, name string, files map[string][]byte, product string) (string, error) {
	out, err := made(name, files, product)
	if err != nil {
		return "", err
	}
	dir := filepath.Dir(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	// one for all: Maven's own repository is not safe with several processes
	unlock, err := lock(ctx, filepath.Join(dir, "maven.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(out); !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	work := filepath.Join(dir, name+".part") // on the file system of out
	defer os.RemoveAll(work)                 //nolint:errcheck // what stays is removed the next time
	if err := errors.Join(os.RemoveAll(work), write(work, files)); err != nil {
		return "", err
	}
	return out, runMaven(ctx, work, product, out)
}

func digest(files map[string][]byte) []byte {
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	key := sha256.New()
	for _, name := range names {
		fmt.Fprintf(key, "%d %s %d ", len(name), name, len(files[name]))
		key.Write(files[name])
	}
	return key.Sum(nil)[:6]
}

// write writes files below dir.
func write(dir string, files map[string][]byte) error {
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			return err
		}
	}
	return nil
}

func runMaven(ctx context.Context, dir, product, out string) error {
	if _, _, err := javaTools("java", "mvn"); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "mvn", "--batch-mode", "--quiet", "--no-transfer-progress", "--strict-checksums",
		"-Dmaven.test.skip=true", "package")
	cmd.Dir = dir
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(text))
	}
	made, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(product)))
	if err != nil {
		return err
	}
	if len(made) != 1 {
		return fmt.Errorf("maven made %d of %s, expected one", len(made), product)
	}
	return os.Rename(made[0], out)
}

// javaTools finds programs and Java's home, the folder that java is in when all links are followed.
func javaTools(names ...string) (java, home string, err error) {
	var missing []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			missing = append(missing, name)
		} else if name == "java" {
			java = path
		}
	}
	if len(missing) > 0 {
		return "", "", fmt.Errorf("YARN needs %s on the path: install the Debian packages default-jdk-headless and maven",
			strings.Join(missing, " and "))
	}
	real, err := filepath.EvalSymlinks(java)
	if err != nil {
		return "", "", err
	}
	return real, filepath.Dir(filepath.Dir(real)), nil
}
