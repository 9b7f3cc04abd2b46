package ec2

import (
	"slices"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2/listing"
)

// What DescribeInstanceStatus asks and answers.
type (
	statusRequest struct {
		DryRun              bool
		Filters             []listing.Filter `wire:"filter"`
		InstanceIDs         []string         `wire:"instanceId,max=100"`
		IncludeAllInstances bool
		MaxResults          *int64 `wire:",min=5,max=1000"`
		NextToken           string
	}
	statusAnswer struct {
		Statuses  []instanceStatus `wire:"instanceStatusSet"`
		NextToken string
	}
	instanceStatus struct {
		InstanceID         string `wire:"instanceId"`
		AvailabilityZone   string
		AvailabilityZoneID string `wire:"availabilityZoneId"`
		InstanceState      stateOf
		Events             []statusEvent `wire:"eventsSet"`
		SystemStatus       statusSummary
		InstanceStatus     statusSummary
		AttachedEBSStatus  statusSummary `wire:"attachedEbsStatus"`
	}
	statusSummary struct {
		Status  string
		Details []statusDetail
	}
	statusDetail struct {
		Name, Status  string
		ImpairedSince *time.Time
	}
	statusEvent struct {
		InstanceEventID   string `wire:"instanceEventId"`
		Code, Description string
		NotBefore         time.Time
		NotAfter          *time.Time
	}
)

func statusSubject(_ *api.Call, in *statusRequest) api.Subject {
	return api.Subject{Instances: in.InstanceIDs}
}

// initializing is how long the checks of a new instance take ("Status checks for Amazon EC2 instances": a few minutes).
const initializing = 2 * time.Minute

var ofStatuses = listing.Kind[instanceStatus]{By: map[string]func(*instanceStatus) []string{
	"availability-zone":            listing.One(func(i *instanceStatus) string { return i.AvailabilityZone }),
	"availability-zone-id":         listing.One(func(i *instanceStatus) string { return i.AvailabilityZoneID }),
	"instance-state-name":          listing.One(func(i *instanceStatus) string { return i.InstanceState.Name }),
	"instance-status.status":       listing.One(func(i *instanceStatus) string { return i.InstanceStatus.Status }),
	"system-status.status":         listing.One(func(i *instanceStatus) string { return i.SystemStatus.Status }),
	"attached-ebs-status.status":   listing.One(func(i *instanceStatus) string { return i.AttachedEBSStatus.Status }),
	"instance-status.reachability": func(i *instanceStatus) []string { return details(i.InstanceStatus) },
	"system-status.reachability":   func(i *instanceStatus) []string { return details(i.SystemStatus) },
	"event.code": func(i *instanceStatus) (codes []string) {
		for _, e := range i.Events {
			codes = append(codes, e.Code)
		}
		return codes
	},
}}

func details(s statusSummary) (all []string) {
	for _, d := range s.Details {
		all = append(all, d.Status)
	}
	return all
}

// status is what the checks of an instance say.
func (s *Service) status(i *fakecloud.Instance, now time.Time) *instanceStatus {
	summary, detail := "ok", "passed"
	switch {
	case i.State != fakecloud.Running:
		summary, detail = "not-applicable", ""
	case now.Before(i.Created.Add(initializing)):
		summary, detail = "initializing", "initializing"
	}
	is := statusSummary{Status: summary, Details: []statusDetail{}}
	if detail != "" {
		is.Details = append(is.Details, statusDetail{Name: "reachability", Status: detail})
	}
	out := &instanceStatus{
		InstanceID: i.Name, AvailabilityZone: i.Location, AvailabilityZoneID: s.zoneID(i.Location), InstanceState: states[i.State],
		Events: []statusEvent{}, SystemStatus: is, InstanceStatus: is, AttachedEBSStatus: is,
	}
	if since := i.Impaired; !since.IsZero() && i.State == fakecloud.Running {
		// The host is broken, and so the instance cannot be reached. Its disks are another service's.
		failed := statusSummary{"impaired", []statusDetail{{Name: "reachability", Status: "failed", ImpairedSince: &since}}}
		out.SystemStatus, out.InstanceStatus = failed, failed
	}
	if m := i.Maintenance; m != nil {
		out.Events = append(out.Events, maintenance(i, m))
	}
	return out
}

// maintenance is what the cloud has announced. What is over is listed for a week, and only its description says so ("Scheduled
// events for your instances: the event description contains [Completed] or [Canceled]").
func maintenance(i *fakecloud.Instance, m *fakecloud.Maintenance) statusEvent {
	id := "instance-event-0" + strings.TrimPrefix(i.Name, "i-")
	e := statusEvent{InstanceEventID: id, Code: m.Kind, Description: descriptions[m.Kind], NotBefore: m.Begins}
	// mutant: of finished maintenance nothing says that it is over
	if m.Finished {
		e.Description = "[Completed] " + e.Description
	}
	return e
}

// descriptions are those of events by their codes. AWS's own are like these.
var descriptions = map[string]string{
	"instance-reboot":     "The instance is scheduled for reboot",
	"system-reboot":       "The instance is scheduled for a system reboot",
	"system-maintenance":  "The instance is scheduled for system maintenance",
	"instance-retirement": "The instance is running on degraded hardware",
	"instance-stop":       "The instance is running on degraded hardware",
}

// describeStatus lists what the checks of instances say: of those that run, unless all are wanted.
func (s *Service) describeStatus(c *api.Call, in *statusRequest) (*statusAnswer, error) {
	if err := dryRun(in.DryRun); err != nil {
		return nil, err
	}
	if err := listing.NoPage(in.MaxResults, in.InstanceIDs, "instancesSet"); err != nil {
		return nil, err
	}
	instances, err := s.listed(c, in.InstanceIDs)
	if err != nil {
		return nil, err
	}
	if !in.IncludeAllInstances {
		instances = slices.DeleteFunc(slices.Clone(instances), func(i *fakecloud.Instance) bool { return i.State != fakecloud.Running })
	}
	var all []*instanceStatus
	for _, i := range instances {
		all = append(all, s.status(i, c.Tx.Now()))
	}
	if all, err = ofStatuses.Filtered(c, all, in.Filters); err != nil {
		return nil, err
	}
	some, next, err := listing.Page(all, in.MaxResults, in.NextToken, 100)
	if err != nil {
		return nil, err
	}
	out := &statusAnswer{Statuses: []instanceStatus{}, NextToken: next}
	for _, i := range some {
		out.Statuses = append(out.Statuses, *i)
	}
	return out, nil
}
