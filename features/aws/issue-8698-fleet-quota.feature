# Fixed by https://github.com/aws/karpenter-provider-aws/pull/8698, first in v1.9.0.

@aws @issue-8698
Feature: A quota of fleets that is used up is worked around

  @aws-8698-fleet-quota
  Scenario: The preferred NodePool cannot launch, for the quota of fleets
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And every instance of the type "m6i.xlarge" is not launched, for "MaxFleetCountExceeded"
    And Karpenter with a NodePool "default"
    And these objects:
      """
      apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: {name: preferred}
      spec:
        weight: 10
        template:
          spec:
            nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
            requirements:
            - {key: node.kubernetes.io/instance-type, operator: In, values: [m6i.xlarge]}
      """
    When a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 3m
