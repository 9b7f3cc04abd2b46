# Open. Nothing is known of AWS ever giving this answer.

@aws @issue-9616
Feature: A fleet that gets nothing, and is not told why, holds up nothing else

  @aws-9616-short-fleet
  Scenario: AWS answers CreateFleet for one type with no instances and no errors
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And every instance of the type "m6i.xlarge" is not launched, and nothing is said of why
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: general}
      spec:
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge]}
      """
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: general}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    And this is recorded:
      """
      {source: cloud, verb: CreateFleet, detail: {type: m6i.xlarge}}
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
    Then the pod "api" is Running within 10m
