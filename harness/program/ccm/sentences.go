package ccm

import (
	"context"

	"nodestorm/harness/builds"
	"nodestorm/harness/cloud/hetzner"
	"nodestorm/harness/program/deploy"
	"nodestorm/harness/sentences/scene"
	"nodestorm/harness/sentences/words"
)

var sentences = deploy.Sentences{Sentences: scene.Sentences{
	Worlds: "servers of a Hetzner Cloud project", Records: "servers (cloud), nodes (node), calls to the API server (api)",
	Rows: []scene.Sentence{
		{Role: scene.Given, Words: `a cloud controller manager for the Hetzner Cloud`, Needs: []scene.Need{hetzner.Needed},
			Wants: requirements, Act: deployManager},
		{Role: scene.When, Words: `a cloud controller manager for the Hetzner Cloud is deployed`, Needs: []scene.Need{hetzner.Needed},
			Wants: requirements, Act: deployManager},
	},
}}

func requirements(words.Args) (scene.Wants, error) {
	return scene.Wants{Parts: []builds.Ref{builds.CCM}}, nil
}

func deployManager(ctx context.Context, s *scene.Scene, _ words.Args) error {
	t, err := s.Part(builds.CCM)
	if err != nil {
		return err
	}
	manager, err := Install(ctx, s.World, t)
	if err != nil {
		return err
	}
	cfg := Config{}
	for _, v := range scene.CloudOf[*hetzner.Project](s).Env() {
		switch v.Name {
		case "HCLOUD_ENDPOINT":
			cfg.Endpoint = v.Value
		case "HCLOUD_TOKEN":
			cfg.Token = v.Value
		}
	}
	_, err = manager.Start(ctx, cfg)
	return err
}
