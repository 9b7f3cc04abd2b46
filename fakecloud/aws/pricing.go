package aws

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/offer"
	"nodestorm/fakecloud/aws/wire"
)

// What GetProducts asks and answers.
type (
	productsRequest struct {
		ServiceCode   string          `wire:",required"`
		Filters       []productFilter `wire:",max=50"`
		FormatVersion string          `wire:",max=32"`
		MaxResults    *int64          `wire:",min=1,max=100"`
		NextToken     string
	}
	productFilter struct {
		Field string `wire:",required,min=1,max=1024"`
		Type  string `wire:",required,enum=TERM_MATCH|EQUALS|CONTAINS|ANY_OF|NONE_OF"`
		Value string `wire:",required,min=1,max=1024"`
	}
	productsAnswer struct {
		FormatVersion, NextToken string
		PriceList                []string
	}
)

// attributes are those of the products: Linux on demand in the region, on shared hardware but for metal.
func attributes(region string, t *offer.Type) map[string]string {
	tenancy, family := "Shared", "Compute Instance"
	if t.Metal {
		tenancy, family = "Dedicated", "Compute Instance (bare metal)"
	}
	return map[string]string{
		"instanceType": t.Name, "regionCode": region, "serviceCode": "AmazonEC2", "servicecode": "AmazonEC2", "operatingSystem": "Linux",
		"tenancy": tenancy, "preInstalledSw": "NA", "capacitystatus": "Used", "marketoption": "OnDemand",
		"vcpu": strconv.FormatInt(t.VCPUs, 10), "memory": fmt.Sprintf("%g GiB", float64(t.MemoryMiB)/1024), "locationType": "AWS Region",
		"productFamily": family,
	}
}

// prices are the operations of the price list.
func prices(cfg Config) []api.Operation {
	products := func(_ *api.Call, in *productsRequest) (*productsAnswer, error) {
		if in.ServiceCode != "AmazonEC2" {
			return nil, wire.Errorf("NotFoundException", "Service code %s is not valid.", in.ServiceCode)
		}
		var all []*offer.Type
		for _, t := range offer.Types() {
			fits := true
			for _, f := range in.Filters {
				is, err := productFits(attributes(cfg.Region, t), f)
				if err != nil {
					return nil, err
				}
				fits = fits && is
			}
			if fits {
				all = append(all, t)
			}
		}
		some, next, err := api.Page(all, in.MaxResults, in.NextToken, 100)
		if err != nil {
			return nil, wire.Errorf("InvalidNextTokenException", "The pagination token is invalid.")
		}
		out := &productsAnswer{FormatVersion: "aws_v1", NextToken: next, PriceList: []string{}}
		for _, t := range some {
			out.PriceList = append(out.PriceList, product(cfg.Region, t))
		}
		return out, nil
	}
	return []api.Operation{api.Does("GetProducts", products)}
}

func productFits(is map[string]string, f productFilter) (bool, error) {
	value, known := is[f.Field]
	if !known {
		return false, wire.Errorf("InvalidParameterException", "The filter field %.80q is not known here", f.Field)
	}
	switch f.Type {
	case "CONTAINS":
		return strings.Contains(value, f.Value), nil
	case "ANY_OF", "NONE_OF":
		any := false
		for one := range strings.SplitSeq(f.Value, ",") {
			any = any || value == one
		}
		return any == (f.Type == "ANY_OF"), nil
	}
	return value == f.Value, nil
}

// product is an entry of the price list: a text of JSON.
func product(region string, t *offer.Type) string {
	sku := "SKU" + strings.ToUpper(strings.NewReplacer(".", "", "-", "").Replace(t.Name))
	term, rate := sku+".JRTCKXETXF", sku+".JRTCKXETXF.6YS6EN2CT7"
	is := attributes(region, t)
	text, _ := json.Marshal(map[string]any{ // texts and maps of them
		"product":     map[string]any{"productFamily": is["productFamily"], "attributes": is, "sku": sku},
		"serviceCode": "AmazonEC2",
		"terms": map[string]any{"OnDemand": map[string]any{term: map[string]any{
			"sku": sku, "offerTermCode": "JRTCKXETXF", "priceDimensions": map[string]any{rate: map[string]any{
				"unit": "Hrs", "rateCode": rate, "beginRange": "0", "endRange": "Inf",
				"pricePerUnit": map[string]string{"USD": fakecloud.Money(t.Hourly)},
			}},
		}}},
		"version": "20260706000000", "publicationDate": "2026-07-06T00:00:00Z",
	})
	return string(text)
}
