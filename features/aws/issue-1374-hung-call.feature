# Fixed by https://github.com/kubernetes/cloud-provider-aws/pull/1374, first in v1.34.3.

@aws @issue-1374
Feature: A call that AWS never answers keeps no Node uninitialized

  One Node after the other is initialized. Pods wait as long, since the taint of Nodes that are not keeps them out.

  @aws-1374-hung-call
  Scenario: AWS answers every call but one about an instance
    Given a cluster
    And machines that register 30s after their launch and are Ready 10s later
    And an AWS region
    And the cloud controller manager of AWS
    When the first call "DescribeInstances" to the cloud is not answered
    And an instance of the type "m5.large" is launched in "us-west-2a"
    And the scenario waits for 5m
    And an instance of the type "m5.large" is launched in "us-west-2b"
    Then this holds within 5m:
      """
      sequence:
        - as: the first Node
          match: {source: node, verb: register, resource: nodes}
        - as: the second Node
          match: {source: node, verb: register, resource: nodes}
          capture: {node: name}
        - as: initialized
          match: {source: api, verb: [update, patch], resource: nodes, name: $node, actor: cloud-controller-manager, code: 200}
      """
