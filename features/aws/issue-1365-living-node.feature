# Open. Since https://github.com/kubernetes/cloud-provider-aws/pull/1366 what is listed without a state counts as gone.

@aws @issue-1365
Feature: The Node of an instance that runs is not removed, whatever AWS says of it

  @aws-1365-living-node
  Scenario: A new instance is listed without its state while its Node is not Ready yet
    Given a cluster
    And machines that register 30s after their launch and are Ready 30s later
    And an AWS region
    And the cloud controller manager of AWS
    When every call "DescribeInstances" to the cloud is answered without the fields "reservationSet.instancesSet.instanceState", for 3m
    And an instance of the type "m5.large" is launched in "us-west-2a"
    And "node" has recorded "register" of "nodes"
    Then "node" has recorded "ready" of "nodes" within 5m
    And "cloud-controller-manager" never sends "delete" of "nodes" within 5m
