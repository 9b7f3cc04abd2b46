# Open. https://github.com/kubernetes/cloud-provider-aws/pull/1024 would have let a Node be for a while, and was not merged.

@aws @issue-81636
Feature: The Node of an instance that AWS does not list yet is not removed

  @aws-81636-not-listed-yet
  Scenario: AWS lists an instance 45 seconds after its launch, and its kubelet registers 15 seconds before that
    Given a cluster
    And machines that register 30s after their launch and are Ready 30s later
    And an AWS region
    And the cloud controller manager of AWS
    When every call "DescribeInstances" to the cloud gets a list without those that are younger than 45s
    And an instance of the type "m5.large" is launched in "us-west-2a"
    And "node" has recorded "register" of "nodes"
    Then "node" has recorded "ready" of "nodes" within 5m
    And "cloud-controller-manager" never sends "delete" of "nodes" within 5m
