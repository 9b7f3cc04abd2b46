# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9170, first in v1.13.0.

@aws @issue-9142
Feature: A machine that cannot be had holds up no other

  While a NodeClaim waits for its machine, Karpenter plans for no pod. So it gives up one that cannot be had.

  @aws-9142-one-blocks-all
  Scenario: Of two types, both of which a NodePool insists on, one is out of capacity
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And every instance of the type "r6i.xlarge" is not launched, for "InsufficientInstanceCapacity"
    And each of the first 3 instances of the type "m6i.xlarge" is not launched, for "RequestLimitExceeded"
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: diverse}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge, r6i.xlarge], minValues: 2}
            - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: diverse}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    And this is recorded:
      """
      {source: cloud, verb: CreateFleet, detail: {error: [InsufficientInstanceCapacity, RequestLimitExceeded]}}
      """
    And these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: api}
      spec:
        nodeSelector: {karpenter.sh/nodepool: default}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "api" is Running within 2m
