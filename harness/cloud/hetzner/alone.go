package hetzner

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/hcloud"
	"nodestorm/harness/cloud/live"
)

// tokenVariable is where the hcloud command and its kin look for a token.
const tokenVariable = "HCLOUD_TOKEN"

var alone = &live.Standalone{
	Command: "hcloud",
	Short:   "Serve the Hetzner Cloud API on loopback",
	Long: `Serve the Hetzner Cloud API on loopback: servers, networks, load balancers,
volumes and all that belongs to them, in real time, until Ctrl-C.
Status 3: a fault made no difference.`,
	Example: `  HCLOUD_TOKEN=anything nodestorm cloud hcloud --listen 127.0.0.1:8080
  nodestorm cloud hcloud --token-file token --state project.json \
    --faults faults.yaml`,
	What: "server(s)",
	New: func(flags *pflag.FlagSet) live.Serving {
		p := &served{}
		flags.StringVar(&p.tokenFile, "token-file", "", "`FILE` with the clients' token; default: "+tokenVariable)
		flags.IntVar(&p.limit, "rate-limit", 0, "serve at most `N` calls an hour; 0: all, and headers say 3600")
		return p
	},
}

// served is a project that is served alone.
type served struct {
	tokenFile, token string
	limit            int
}

func (p *served) Check(read func(string) ([]byte, error), files bool) (err error) {
	if p.limit < 0 {
		return fmt.Errorf("--rate-limit %d: want zero or more", p.limit)
	}
	if p.token, err = p.readToken(read); files {
		return nil
	}
	return err
}

// readToken reads the token from a file or, with none given, from the environment. Errors do not show it.
func (p *served) readToken(read func(string) ([]byte, error)) (string, error) {
	file := p.tokenFile
	if file == "" {
		if token := os.Getenv(tokenVariable); token != "" {
			return token, nil
		}
		return "", fmt.Errorf("no token: set %s, or name a file with --token-file; any text will do", tokenVariable)
	}
	text, err := read(file)
	if err != nil {
		return "", fmt.Errorf("--token-file: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, "\r\n\t ") {
		return "", fmt.Errorf("--token-file %s: want one word", file)
	}
	return token, nil
}

func (p *served) Config() fakecloud.Config { return config() }

func (p *served) Begin() func(*fakecloud.Tx) error { return nil }

func (p *served) Serve(ctx context.Context, c *fakecloud.Cloud, l net.Listener, _ live.Options) (live.Served, error) {
	s, err := hcloud.Serve(ctx, hcloud.Config{Cloud: c, Token: p.token, Listener: l, RateLimit: p.limit})
	if err != nil {
		return live.Served{}, err
	}
	return live.Served{
		Closer: s, Endpoint: s.URL(), Says: "The Hetzner Cloud API is up. Use it with", Environment: []string{"HCLOUD_ENDPOINT=" + s.URL()},
	}, nil
}
