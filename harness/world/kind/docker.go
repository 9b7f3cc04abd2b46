package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// label is on all that we make with Docker: the node image.
const label = "nodestorm"

// recipeLabel says how an image was made.
const recipeLabel = label + ".recipe"

const arch = runtime.GOARCH

// command runs a program, whose words go to log; an error has the last of them.
func command(ctx context.Context, log io.Writer, args ...string) error {
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "DOCKER_BUILDKIT=0") // BuildKit is a program of its own
	cmd.Stdout, cmd.Stderr = io.MultiWriter(log, &said), io.MultiWriter(log, &said)
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%s: %w; it said last: %s", args[0], err, lastLine(said.String()))
	}
	return nil
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// docker asks Docker, which answers at once or not at all.
func docker(ctx context.Context, args ...string) (string, error) {
	return dockerWithin(ctx, 30*time.Second, args...)
}

func dockerWithin(ctx context.Context, limit time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("docker %s: %w: %s", args[0], err, lastLine(withoutHelp(stderr.String())))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// withoutHelp is what docker said without that it could say more.
func withoutHelp(said string) string {
	before, _, _ := strings.Cut(said, "Run 'docker run --help' for more information")
	return strings.TrimSpace(before)
}

// CheckDocker says what Docker lacks for clusters, and the way out.
func CheckDocker(ctx context.Context) error {
	if _, err := exec.LookPath("docker"); err != nil {
		return errors.New("no docker in PATH; install it from your distribution: apt-get install docker.io")
	}
	if _, err := docker(ctx, "info", "--format", "{{.ServerVersion}}"); err != nil {
		return fmt.Errorf("no Docker answers (%w); start dockerd, or name its socket in DOCKER_HOST", err)
	}
	return nil
}

// CheckImage says whether Docker has the node image, as this nodestorm makes it.
func CheckImage(ctx context.Context, version string) error {
	const way = "make it with: nodestorm cluster image"
	name := Image(version)
	found, err := docker(ctx, "images", "--quiet", name)
	if err != nil {
		return err
	}
	if found == "" {
		return fmt.Errorf("there is no image %s in Docker; %s", name, way)
	}
	made, err := docker(ctx, "image", "inspect", "--format", `{{index .Config.Labels "`+recipeLabel+`"}}`, name)
	if err != nil {
		return err
	}
	want, err := recipe()
	if err != nil {
		return err
	}
	// mutant: an image of another nodestorm's will do
	if made != want {
		return fmt.Errorf("the image %s in Docker is of another nodestorm, which made it otherwise; %s", name, way)
	}
	return nil
}

// CheckInotify says whether a node's programs get as many inotify instances as they ask for.
func CheckInotify() error {
	const file, want = "/proc/sys/fs/inotify/max_user_instances", 128 // what one node was seen to do with
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && n < want {
		return fmt.Errorf("%s is %d; sysctl fs.inotify.max_user_instances=512", file, n)
	}
	return nil
}
