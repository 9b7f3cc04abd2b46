# Fixed by https://github.com/kubernetes/cloud-provider-aws/pull/1366, first in v1.34.3.

@aws @issue-1365
Feature: The Node of an instance that has ended is removed, whatever AWS says of it

  @aws-1365-nil-state
  Scenario: An instance ends, and AWS lists it without its state
    Given a cluster
    And machines that register 30s after their launch and are Ready 10s later
    And an AWS region
    And the cloud controller manager of AWS
    When an instance of the type "m5.large" is launched in "us-west-2a"
    And "node" has recorded "ready" of "nodes"
    And the scenario waits for 1m
    And every call "DescribeInstances" to the cloud is answered without the fields "reservationSet.instancesSet.instanceState"
    And the first instance vanishes 2m after it is running
    Then this holds within 10m:
      """
      sequence:
        - as: gone
          match: {source: cloud, verb: deleted, resource: instances}
        - as: removed
          match: {source: api, verb: delete, resource: nodes, actor: cloud-controller-manager, code: 200}
      """
