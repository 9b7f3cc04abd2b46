// Package offer is what AWS offers: instance types with their sizes and prices, read from a table of families in a notation of
// our own (types.txt), and images. It serves nothing.
package offer

import (
	"bufio"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed types.txt
var families string

// Type is an instance type.
type Type struct {
	Name, Family, Size string
	// Maker is that of the processor: Intel, AMD or AWS. GHz is its sustained speed.
	Maker     string
	GHz       float64
	VCPUs     int64
	MemoryMiB int64
	// ENIs are how many network interfaces it can have, and IPv4 how many addresses each of them.
	ENIs, IPv4 int64
	// NetworkMbps is the baseline, EBSMbps the most that there is for disks; zero: unknown, or shared with the network.
	NetworkMbps, EBSMbps int64
	DisksGB              int64 // local ones; zero: none
	Xen, Metal           bool
	GPU                  GPU // Count zero: none
	Hourly               float64
}

// GPU is what a type has of them.
type GPU struct {
	Maker, Name string
	Count       int64
	MemoryMiB   int64 // of each
}

// ARM reports whether the processor is one.
func (t *Type) ARM() bool { return t.Maker == "AWS" }

// Burstable reports whether a type saves up processor time.
func (t *Type) Burstable() bool { return t.Name[0] == 't' }

// Types are all instance types, in the order of the table. They are not to be changed.
var Types = sync.OnceValue(func() []*Type {
	all, err := parse(families)
	if err != nil {
		panic(fmt.Sprintf("offer: types.txt: %v", err)) // ours, and held by a test
	}
	return all
})

var byName = sync.OnceValue(func() map[string]*Type {
	all := map[string]*Type{}
	for _, t := range Types() {
		all[t.Name] = t
	}
	return all
})

// Named is the type of that name, or nil.
func Named(name string) *Type { return byName()[name] }

// family is a line of the table.
type family struct {
	name, maker               string
	ghz, memory, hourly       float64
	enis, network, ebs, disks map[string]string
	xen                       bool
	gpu                       GPU
	sizes                     []string
}

func parse(text string) ([]*Type, error) {
	ladders := map[string]map[string]string{"-": nil}
	var families []*family
	var ladder map[string]string
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "ladder" && len(words) == 2:
			ladder = map[string]string{}
			ladders[words[1]] = ladder
		case words[0] == "family" && len(words) >= 10:
			f, err := newFamily(words[1:], ladders)
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			ladder, families = nil, append(families, f)
		case ladder != nil:
			for _, word := range words {
				size, what, _ := strings.Cut(word, "=")
				ladder[size] = what
			}
		case len(families) > 0:
			last := families[len(families)-1]
			last.sizes = append(last.sizes, words...)
		default:
			return nil, fmt.Errorf("line %d: %q is neither a ladder nor a family", n, words[0])
		}
	}
	var all []*Type
	for _, f := range families {
		types, err := f.types()
		if err != nil {
			return nil, fmt.Errorf("family %s: %w", f.name, err)
		}
		all = append(all, types...)
	}
	return all, lines.Err()
}

func newFamily(words []string, ladders map[string]map[string]string) (*family, error) {
	f := &family{name: words[0], maker: words[1]}
	for k, into := range []*float64{&f.ghz, &f.memory, &f.hourly} {
		word := words[2+k]
		n, err := strconv.ParseFloat(word, 64)
		if err != nil && word != "-" {
			return nil, fmt.Errorf("%q is no number", word)
		}
		*into = n
	}
	for k, into := range []*map[string]string{&f.enis, &f.network, &f.ebs, &f.disks} {
		of, known := ladders[words[5+k]]
		if !known {
			return nil, fmt.Errorf("there is no ladder %q", words[5+k])
		}
		*into = of
	}
	for _, word := range words[9:] {
		gpu, is := strings.CutPrefix(word, "gpu=")
		parts := strings.Split(gpu, ",")
		switch {
		case word == "xen":
			f.xen = true
		case is && len(parts) == 3:
			f.gpu = GPU{Maker: parts[0], Name: parts[1], MemoryMiB: number(parts[2])}
		default:
			return nil, fmt.Errorf("%q is neither xen nor a GPU", word)
		}
	}
	return f, nil
}

func (f *family) types() ([]*Type, error) {
	var all []*Type
	for _, word := range f.sizes {
		word, price, priced := strings.Cut(word, "@")
		size, shape, _ := strings.Cut(word, ":")
		t := &Type{
			Name: f.name + "." + size, Family: f.name, Size: size, Maker: f.maker, GHz: f.ghz, VCPUs: vCPUs(size), Xen: f.xen,
			Metal: strings.HasPrefix(size, "metal"), NetworkMbps: number(f.network[size]), EBSMbps: number(f.ebs[size]),
			DisksGB: number(f.disks[size]), GPU: f.gpu,
		}
		if t.VCPUs == 0 && shape == "" {
			t.VCPUs = slices.MaxFunc(all, func(a, b *Type) int { return cmp.Compare(a.VCPUs, b.VCPUs) }).VCPUs
		}
		memory := f.memory * float64(t.VCPUs)
		if parts := strings.Split(shape, "x"); shape != "" {
			t.VCPUs, memory = number(parts[0]), decimal(parts[1])
			if len(parts) > 2 {
				t.GPU.Count = number(parts[2])
			}
		}
		t.MemoryMiB = int64(memory * 1024)
		t.Hourly = f.hourly * float64(t.VCPUs)
		if priced {
			t.Hourly = decimal(price)
		}
		enis, addresses, _ := strings.Cut(f.enis[size], "x")
		t.ENIs, t.IPv4 = number(enis), number(addresses)
		if t.VCPUs <= 0 || t.MemoryMiB <= 0 || t.ENIs <= 0 || t.IPv4 <= 0 || t.Hourly <= 0 {
			return nil, fmt.Errorf("size %s lacks something: %+v", size, *t)
		}
		all = append(all, t)
	}
	return all, nil
}

// vCPUs are those that a size has by its name; zero: as many as the largest.
func vCPUs(size string) int64 {
	switch size {
	case "medium":
		return 1
	case "large":
		return 2
	case "xlarge":
		return 4
	}
	if n, is := strings.CutSuffix(size, "xlarge"); is {
		return 4 * number(n)
	}
	if n, is := strings.CutPrefix(size, "metal-"); is {
		return 4 * number(strings.TrimSuffix(n, "xl"))
	}
	return 0
}

// number is zero for what is none.
func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func decimal(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}
