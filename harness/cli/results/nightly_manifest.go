package results

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"nodestorm/harness/cli/console"
	"nodestorm/harness/night/k8sjob"
	"nodestorm/harness/replay"
	"nodestorm/harness/run/exit"
	"nodestorm/scenarios"
	"nodestorm/sim/time/clock"
)

// manifestOptions are what a night verifies, and how.
type manifestOptions struct {
	spec        k8sjob.Spec
	tags        string
	all, strict bool
	repeat      int
}

func newNightlyManifest(e *console.Console) *cobra.Command {
	o := manifestOptions{spec: k8sjob.Spec{Clock: clock.Auto}}
	c := &cobra.Command{
		Use:   "manifest [ID…] --image REFERENCE",
		Short: "Write a night as a Job of Kubernetes, whose pods are shards",
		Long: `Write a manifest for kubectl apply: an Indexed Job, whose indexes are the shards of
"nodestorm verify", and a second Job, which waits for its end, joins what the shards left
and has the status of the whole. Nothing is started.

A shard that ends with status 3, inconclusive, or whose pod was killed is tried again, up to
--retries times; one that ends with 1 or 2 is not. A pod that was evicted, preempted or
drained counts as no try. A shard that never comes is named by the second Job.

The pods are user 65532 with a read-only root, the default seccomp profile and no
capability; in virtual time with SYS_PTRACE, without which these profiles keep the clock
from programs that it is built into. With --plain, for an image of builds without it, and
with --clock real there is none: such pods are as restricted as Pod Security has it. What is
replayed must be in the image: "nodestorm target image --include".

With --catalogue the files of your own scenarios that are chosen are in a ConfigMap.

Runs are in a PersistentVolumeClaim that pods on all nodes can write: one that is there
(--claim), or one that the manifest makes. With --bucket they are in a bucket of a store
that speaks S3, an archive a shard, and the whole in one more; --secret has the credentials.

Shards have the processors of --cpu to themselves if nodes have them, and no limit: who is
throttled fires its timers late, and what is too late is inconclusive.`,
		Example: `  nodestorm nightly manifest --all --repeat 5 \
    --image registry.example/team/nodestorm:v1 | kubectl apply -f -
  nodestorm nightly manifest --tags @karpenter \
    --image registry.example/team/nodestorm:v1 --name karpenter-2026-11-23 \
    --shards 8 --claim nights
  nodestorm nightly manifest --all \
    --image registry.example/team/nodestorm:v1 \
    --bucket s3://nights/nodestorm --secret nights-s3`,
		RunE: func(c *cobra.Command, ids []string) error {
			return writeManifest(e, ids, o)
		},
	}
	o.addFlags(c)
	e.CatalogueFlags(c)
	c.ValidArgsFunction = e.CompleteIDs
	return c
}

func (o *manifestOptions) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.spec.Image, "image", "", "`REFERENCE` of nodestorm's image, as the cluster's nodes know it")
	f.StringVar(&o.spec.Name, "name", "nodestorm-night", "`NAME` of the Job, of the claim and of the folder in it")
	f.StringVar(&o.spec.Namespace, "namespace", "", "`NAME` of the namespace; empty: that of the user who applies it")
	f.IntVar(&o.spec.Shards, "shards", 4, "number `N` of pods that replay")
	f.IntVar(&o.spec.Parallel, "at-once", 0, "at most `N` of them at a time; 0: all")
	f.StringVar(&o.spec.Claim, "claim", "", "`NAME` of a PersistentVolumeClaim that is there, for the runs")
	f.StringVar(&o.spec.Storage, "storage", "10Gi", "`QUANTITY` of storage of the claim that is made without --claim")
	f.StringVar(&o.spec.Class, "storage-class", "", "`NAME` of its storage class; empty: the cluster's own")
	f.StringVar(&o.spec.Bucket, "bucket", "", "`BUCKET`, s3://NAME/PREFIX, for the runs, in place of a claim")
	f.StringVar(&o.spec.Secret, "secret", "",
		"`NAME` of an existing Secret with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, unless it is AWS, AWS_ENDPOINT_URL")
	f.StringVar(&o.spec.CPU, "cpu", "2", "`QUANTITY` of processors that a shard asks for")
	f.StringVar(&o.spec.Memory, "memory", "4Gi", "`QUANTITY` of memory that a shard asks for, and gets at most")
	f.StringVar(&o.spec.Scratch, "scratch", "8Gi", "`QUANTITY` that a shard's worlds may write")
	f.IntVar(&o.spec.Retries, "retries", 2, "try a shard again up to `N` times")
	f.DurationVar(&o.spec.Deadline, "deadline", 6*time.Hour, "`DURATION` that all shards may take")
	f.Var(&o.spec.Clock, "clock", "`CLOCK` that sets the pace of virtual time: auto, real, or a factor such as 60x")
	f.BoolVar(&o.spec.Plain, "plain", false,
		"all builds in the image are plain (target build --plain): add no capability")
	f.StringVar(&o.tags, "tags", "", console.TagsUsage)
	f.BoolVar(&o.all, "all", false, "all failures")
	f.BoolVar(&o.strict, "strict", false, "let what is skipped be not as expected")
	f.IntVar(&o.repeat, "repeat", 1, "replay each `N` times")
}

// takeOwn takes the files of the user's own scenarios along, which the image does not have.
func (o *manifestOptions) takeOwn(e *console.Console, catalogue *scenarios.Catalogue, records []scenarios.Record) error {
	if e.Own.Checkout != "" {
		return fmt.Errorf("--catalogue %s is a checkout of nodestorm, which is in the image that is made of it: make image", e.Own.Checkout)
	}
	o.spec.Files = k8sjob.Files{}
	for _, r := range records {
		if files := catalogue.FilesOf(r.ID); files != nil {
			if err := o.spec.Files.Add(files); err != nil {
				return err
			}
		}
	}
	if e.Own.NoBuiltin {
		o.spec.Verify = append(o.spec.Verify, "--no-builtin")
	}
	return nil
}

// writeManifest prints the Job that verifies the scenarios.
func writeManifest(e *console.Console, ids []string, o manifestOptions) error {
	if o.repeat < 1 {
		return exit.UsageError(fmt.Errorf("--repeat %d: want 1 or more", o.repeat))
	}
	catalogue, err := e.Unchecked()
	if err != nil {
		return err
	}
	records, err := replay.Choose(catalogue, catalogue.Features(), ids, o.tags, o.all)
	if err := e.ToPlay(catalogue, records, err); err != nil {
		return err
	}
	if err := o.takeOwn(e, catalogue, records); err != nil {
		return exit.UsageError(err)
	}
	o.spec.Verify = append(o.spec.Verify, ids...)
	for _, flag := range []struct {
		given bool
		args  []string
	}{
		{o.all, []string{"--all"}}, {o.tags != "", []string{"--tags", o.tags}}, {o.strict, []string{"--strict"}},
		{o.repeat > 1, []string{"--repeat", strconv.Itoa(o.repeat)}},
	} {
		if flag.given {
			o.spec.Verify = append(o.spec.Verify, flag.args...)
		}
	}
	if err := o.spec.Check(); err != nil {
		return exit.UsageError(err)
	}
	return o.spec.Write(e.Stdout, strings.Join(append([]string{"nodestorm"}, e.Arguments...), " "))
}
