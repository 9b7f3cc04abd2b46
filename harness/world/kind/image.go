package kind

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// Programs are what a node image is made of.
type Programs struct {
	Version    string // of Kubernetes
	Kubernetes string // one program: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl
	Node       string // one program: kubelet, kubeadm
	Root       string // the checkout of nodestorm, for the rest: pause, and kind's own files
}

// Image is the name of the node image for a version of Kubernetes.
func Image(version string) string { return "nodestorm/node:" + version }

const (
	// etcdVersion is that of the Kubernetes target; kubeadm would want a later one.
	etcdVersion = "3.6.8"
	// PauseImage is what kind's configuration of containerd names.
	PauseImage = "registry.k8s.io/pause:3.10"
	debian     = "bookworm" // later ones have a systemd that refuses cgroup v1
)

// packages are what kind's base image installs, without network storage, and what it
// builds: containerd, runc, CNI plugins.
var packages = []string{
	"systemd", "dbus", "conntrack", "iptables", "nftables", "ebtables", "iproute2", "ethtool", "socat", "util-linux", "mount", "kmod",
	"libseccomp2", "pigz", "e2fsprogs", "bash", "ca-certificates", "jq", "procps",
	"containerd", "runc", "containernetworking-plugins",
	"cloud-init", "curl", // of machines of a cloud
}

//go:embed Dockerfile
var dockerfile []byte

// own are files of an image that come from here: they make it a machine of a cloud.
//
//go:embed all:files
var own embed.FS

// recipe identifies how images are made. Of the programs there are versions.
func recipe() (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, packages, debian, etcdVersion, PauseImage)
	sum.Write(dockerfile)
	err := fs.WalkDir(own, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := own.ReadFile(path)
		fmt.Fprintln(sum, path, len(b))
		sum.Write(b)
		return err
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), err
}

// BuildImage makes the node image, in the folder dir, which must be empty, and gives it
// to Docker. What is done goes to log. It needs root, mmdebstrap and a Debian mirror.
func BuildImage(ctx context.Context, p Programs, dir string, log io.Writer) error {
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), dockerfile, 0o600); err != nil {
		return err
	}
	module, err := goCommand(ctx, p.Root, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kind")
	if err != nil {
		return err
	}
	if err := p.files(filepath.Join(dir, "files"), module); err != nil {
		return fmt.Errorf("collecting the files of a node: %w", err)
	}
	pause, node := filepath.Join(dir, "pause"), filepath.Join(p.Root, "harness", "world", "kind", "node")
	if _, err := goCommand(ctx, node, "build", "-trimpath", "-buildvcs=false", "-o", pause, "./pause"); err != nil {
		return err
	}
	if err := p.images(filepath.Join(dir, "images.tar"), pause); err != nil {
		return fmt.Errorf("making the images of the control plane: %w", err)
	}
	if err := command(ctx, log, "mmdebstrap", "--variant=minbase", `--aptopt=APT::Install-Recommends "false"`, "--dpkgopt=force-unsafe-io",
		"--include="+strings.Join(packages, ","), debian, filepath.Join(dir, "rootfs.tar")); err != nil {
		return err
	}
	made, err := recipe()
	if err != nil {
		return err
	}
	return command(ctx, log, "docker", "build", "--tag", Image(p.Version), "--label", label+"=image", "--label", recipeLabel+"="+made, dir)
}

// CanBuildImage says what BuildImage lacks on this machine.
func CanBuildImage() error {
	if os.Geteuid() != 0 {
		return errors.New("making the root file system of a node needs root")
	}
	if _, err := exec.LookPath("mmdebstrap"); err != nil {
		return errors.New("no mmdebstrap in PATH; install it with: apt-get install mmdebstrap")
	}
	return nil
}

// goCommand runs the go command in a folder and returns its first words.
func goCommand(ctx context.Context, dir string, args ...string) (string, error) {
	var said, failed bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = &said, &failed
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w: %s", args[0], err, lastLine(failed.String()))
	}
	return strings.TrimSpace(said.String()), nil
}

// files fills the folder with what the image has over Debian; module is the source of
// sigs.k8s.io/kind, whose own base image has the entrypoint, units and configuration.
func (p Programs) files(dir, module string) error {
	base := filepath.Join(module, "images", "base", "files")
	if err := os.CopyFS(dir, os.DirFS(base)); err != nil {
		return err
	}
	// Modules are read-only, and so are the folders of a copy.
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		return os.Chmod(path, 0o755)
	}); err != nil {
		return err
	}
	ours, err := fs.Sub(own, "files")
	if err == nil {
		err = os.CopyFS(dir, ours)
	}
	if err != nil {
		return err
	}
	for to, from := range map[string]string{"usr/bin/kubernetes": p.Kubernetes, "usr/bin/kubernetes-node": p.Node} {
		if err := copyFile(filepath.Join(dir, to), from); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "kind", "version"), []byte(p.Version), 0o644)
}

func copyFile(to, from string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o755)
}

// images writes the images of static pods and of pods' sandboxes to one archive.
func (p Programs) images(path, pause string) error {
	faces := []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "etcd"}
	controlPlane, err := image(p.Kubernetes, faces...)
	if err != nil {
		return err
	}
	sandbox, err := image(pause, "pause")
	if err != nil {
		return err
	}
	images := map[string]v1.Image{PauseImage: sandbox, "registry.k8s.io/etcd:" + etcdVersion: controlPlane}
	for _, face := range faces[:3] {
		images["registry.k8s.io/"+face+":"+p.Version] = controlPlane
	}
	tags := map[name.Tag]v1.Image{}
	for ref, img := range images {
		tag, err := name.NewTag(ref)
		if err != nil {
			return err
		}
		tags[tag] = img
	}
	return tarball.MultiWriteToFile(path, tags)
}

// image has one program, and the names that it goes by in PATH; the first is what runs
// if nothing else is asked for.
func image(program string, names ...string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { w.CloseWithError(writeProgram(w, program, names)) }()
		return r, nil
	})
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return nil, err
	}
	file, err := img.ConfigFile()
	if err != nil {
		return nil, err
	}
	file = file.DeepCopy()
	file.OS, file.Architecture = "linux", arch
	file.Config.Env = []string{"PATH=/usr/local/bin"}
	file.Config.Entrypoint = []string{"/usr/local/bin/" + names[0]}
	return mutate.ConfigFile(img, file)
}

// writeProgram writes an archive with a program in /usr/local/bin and links to it.
func writeProgram(w io.Writer, program string, names []string) error {
	f, err := os.Open(program)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	const bin = "usr/local/bin/"
	out := tar.NewWriter(w)
	if err := out.WriteHeader(&tar.Header{Name: bin + "program", Mode: 0o755, Size: info.Size()}); err != nil {
		return err
	}
	if _, err := io.Copy(out, f); err != nil {
		return err
	}
	for _, name := range names {
		if err := out.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: bin + name, Linkname: "program", Mode: 0o777}); err != nil {
			return err
		}
	}
	return out.Close()
}
