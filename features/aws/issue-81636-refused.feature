# A control of https://github.com/kubernetes/kubernetes/issues/81636: here AWS answers with an error that says nothing of the instance.

@aws @issue-81636
Feature: The Node of an instance that AWS cannot be asked for is kept, and initialized later

  @aws-81636-refused
  Scenario: AWS refuses to list instances for 90 seconds
    Given a cluster
    And machines that register 30s after their launch and are Ready 30s later
    And an AWS region
    And the cloud controller manager of AWS
    When every call "DescribeInstances" to the cloud is refused with "InternalError", for 90s
    And an instance of the type "m5.large" is launched in "us-west-2a"
    And "node" has recorded "register" of "nodes"
    Then "node" has recorded "ready" of "nodes" within 5m
    And "cloud-controller-manager" has sent "update" of "nodes" within 10m
    And "cloud-controller-manager" never sends "delete" of "nodes" within 5m
