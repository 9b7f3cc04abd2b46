package aws

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"nodestorm/fakecloud"
	"nodestorm/fakecloud/aws/api"
	"nodestorm/fakecloud/aws/ec2"
	"nodestorm/fakecloud/aws/wire"
)

// retention is how long a message is kept: that of the queue in Karpenter's own template for CloudFormation.
const retention = 300 * time.Second

// queue is the queue of interruptions, to which EventBridge sends what happens to instances. It is used within the cloud's Update only.
type queue struct {
	cfg      Config
	messages []*message
	woken    chan struct{} // closed when there is a new message
	receipts int
}

type message struct {
	id, body      string
	verb, about   string    // what happened to which instance; empty of what a client sent
	sent, visible time.Time // since when it can be received
	received      int
	receipt       string // of the last time
}

func newQueue(cfg Config) *queue {
	q := &queue{cfg: cfg, woken: make(chan struct{})}
	if cfg.Queue != "" {
		cfg.Cloud.OnInstanceEvent(q.hear)
	}
	return q
}

// hear sends what EventBridge's rules for Karpenter want to know of instances.
func (q *queue) hear(tx *fakecloud.Tx, verb string, i *fakecloud.Instance) {
	kind, detail := "EC2 Instance State-change Notification", map[string]any{"instance-id": i.Name}
	switch verb {
	case "interrupted":
		kind, detail["instance-action"] = "EC2 Spot Instance Interruption Warning", "terminate"
	case "created":
		detail["state"] = "pending"
	case "running", "stopping":
		detail["state"] = verb
	case "off":
		detail["state"] = "stopped"
	case "deleting":
		detail["state"] = "shutting-down"
	case "deleted":
		detail["state"] = "terminated"
	default:
		return
	}
	text, _ := json.Marshal(map[string]any{ // texts and maps of them
		"version": "0", "id": uuid(tx), "detail-type": kind, "source": "aws.ec2", "account": q.cfg.Account,
		"time": tx.Now().UTC().Format(time.RFC3339), "region": q.cfg.Region, "resources": []string{ec2.InstanceARN(q.cfg.Region, q.cfg.Account,
			i.Name)},
		"detail": detail,
	})
	m := q.send(tx, string(text), 0)
	m.verb, m.about = verb, i.Name
}

func uuid(tx *fakecloud.Tx) string {
	return tx.Hex(8) + "-" + tx.Hex(4) + "-4" + tx.Hex(3) + "-8" + tx.Hex(3) + "-" + tx.Hex(12)
}

// send puts a message into the queue, which can be received so much later.
func (q *queue) send(tx *fakecloud.Tx, body string, delay time.Duration) *message {
	m := &message{id: uuid(tx), body: body, sent: tx.Now(), visible: tx.Now().Add(delay)}
	q.messages = append(q.messages, m)
	close(q.woken)
	q.woken = make(chan struct{})
	return m
}

func (q *queue) url() string {
	return "https://sqs." + q.cfg.Region + ".amazonaws.com/" + q.cfg.Account + "/" + q.cfg.Queue
}

func (q *queue) operations() []api.Operation {
	return []api.Operation{
		api.Does("GetQueueUrl", q.getURL),
		api.Does("ReceiveMessage", q.receive),
		api.Does("DeleteMessage", q.remove),
		api.Does("SendMessage", q.sendMessage),
	}
}

// What requests and answers have.
type (
	queueURLRequest struct {
		QueueName              string `wire:",required"`
		QueueOwnerAWSAccountID string `wire:"QueueOwnerAWSAccountId"`
	}
	queueURLAnswer struct {
		QueueURL string `wire:"QueueUrl"`
	}
	receiveRequest struct {
		QueueURL                    string `wire:"QueueUrl,required"`
		MaxNumberOfMessages         *int64 `wire:",min=1,max=10"`
		VisibilityTimeout           *int64 `wire:",min=0,max=43200"`
		WaitTimeSeconds             *int64 `wire:",min=0,max=20"`
		AttributeNames              []string
		MessageSystemAttributeNames []string
		MessageAttributeNames       []string
	}
	sqsMessage struct {
		MessageID                      string `wire:"MessageId"`
		ReceiptHandle, MD5OfBody, Body string
		Attributes                     map[string]string `wire:",omit"`
	}
	receiveAnswer struct {
		Messages []sqsMessage `wire:",omit"`
	}
	deleteMessageRequest struct {
		QueueURL      string `wire:"QueueUrl,required"`
		ReceiptHandle string `wire:",required"`
	}
	sendRequest struct {
		QueueURL     string `wire:"QueueUrl,required"`
		MessageBody  string `wire:",required,min=1,max=1048576"`
		DelaySeconds *int64 `wire:",min=0,max=900"`
	}
	sendAnswer struct {
		MessageID        string `wire:"MessageId"`
		MD5OfMessageBody string
	}
)

// check finds out whether a queue is there. Its code is that of the protocol before JSON, which SDKs still get.
func (q *queue) check(there bool) error {
	if there && q.cfg.Queue != "" {
		return nil
	}
	return &wire.Error{Code: "com.amazonaws.sqs#QueueDoesNotExist", Message: "The specified queue does not exist.",
		Query: "AWS.SimpleQueueService.NonExistentQueue"}
}

func (q *queue) getURL(_ *api.Call, in *queueURLRequest) (*queueURLAnswer, error) {
	owner := in.QueueOwnerAWSAccountID
	return &queueURLAnswer{q.url()}, q.check(in.QueueName == q.cfg.Queue && (owner == "" || owner == q.cfg.Account))
}

// receive waits for a message as long as it is asked to.
func (q *queue) receive(c *api.Call, in *receiveRequest) (*receiveAnswer, error) {
	if err := q.check(lastOf(in.QueueURL) == q.cfg.Queue); err != nil {
		return nil, err
	}
	now := c.Tx.Now()
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool { return now.Sub(m.sent) > retention })
	most, hidden, patience := 1, 30*time.Second, time.Duration(0)
	if in.MaxNumberOfMessages != nil {
		most = int(*in.MaxNumberOfMessages)
	}
	if in.VisibilityTimeout != nil {
		hidden = time.Duration(*in.VisibilityTimeout) * time.Second
	}
	if in.WaitTimeSeconds != nil {
		patience = time.Duration(*in.WaitTimeSeconds) * time.Second
	}
	out, until := &receiveAnswer{}, c.Began.Add(patience)
	var handed []*message
	for _, m := range q.messages {
		switch {
		case m.visible.After(now):
			if m.visible.Before(until) {
				until = m.visible
			}
		case len(out.Messages) < most:
			out.Messages = append(out.Messages, q.hand(m, in, now.Add(hidden)))
			handed = append(handed, m)
		}
	}
	note(c, handed)
	// mutant: a call that waits for messages does not wait
	if len(out.Messages) == 0 && now.Before(c.Began.Add(patience)) {
		return nil, &api.Wait{Until: until, Woken: q.woken}
	}
	return out, nil
}

// note has the record of a call say which messages it is about: what happened, and to which instance.
func note(c *api.Call, messages []*message) {
	var what, names []string
	for _, m := range messages {
		if m.about != "" {
			what, names = append(what, m.verb+" "+m.about), append(names, m.about)
		}
	}
	if len(what) > 0 {
		slices.Sort(names)
		c.Note("messages", what)
		c.Concern(slices.Compact(names)...)
	}
}

// hand gives a message to a receiver, and to no other until then.
func (q *queue) hand(m *message, in *receiveRequest, until time.Time) sqsMessage {
	q.receipts++
	m.visible, m.received, m.receipt = until, m.received+1, "receipt-"+strconv.Itoa(q.receipts)
	is := sqsMessage{MessageID: m.id, ReceiptHandle: m.receipt, MD5OfBody: sum(m.body), Body: m.body, Attributes: map[string]string{}}
	for name, value := range map[string]string{
		"SentTimestamp": strconv.FormatInt(m.sent.UnixMilli(), 10), "ApproximateReceiveCount": strconv.Itoa(m.received),
	} {
		for _, asked := range slices.Concat(in.AttributeNames, in.MessageSystemAttributeNames) {
			if asked == name || asked == "All" {
				is.Attributes[name] = value
			}
		}
	}
	return is
}

// sum is what receivers check a message by.
func sum(body string) string {
	is := md5.Sum([]byte(body))
	return hex.EncodeToString(is[:])
}

func (q *queue) remove(c *api.Call, in *deleteMessageRequest) (*nothing, error) {
	if err := q.check(lastOf(in.QueueURL) == q.cfg.Queue); err != nil {
		return nil, err
	}
	k, err := strconv.Atoi(strings.TrimPrefix(in.ReceiptHandle, "receipt-"))
	if err != nil || k < 1 || k > q.receipts {
		return nil, wire.Errorf("ReceiptHandleIsInvalid", "The input receipt handle %.80q is invalid.", in.ReceiptHandle)
	}
	q.messages = slices.DeleteFunc(q.messages, func(m *message) bool {
		removed := m.receipt == in.ReceiptHandle
		if removed {
			note(c, []*message{m})
		}
		return removed
	})
	return &nothing{}, nil
}

func (q *queue) sendMessage(c *api.Call, in *sendRequest) (*sendAnswer, error) {
	if err := q.check(lastOf(in.QueueURL) == q.cfg.Queue); err != nil {
		return nil, err
	}
	delay := time.Duration(0)
	if in.DelaySeconds != nil {
		delay = time.Duration(*in.DelaySeconds) * time.Second
	}
	m := q.send(c.Tx, in.MessageBody, delay)
	return &sendAnswer{m.id, sum(m.body)}, nil
}
