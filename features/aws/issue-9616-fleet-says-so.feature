# A control of https://github.com/aws/karpenter-provider-aws/issues/9616: here the error is in the answer.

@aws @issue-9616
Feature: What a fleet of AWS's does not get is had otherwise

  @aws-9616-fleet-says-so
  Scenario: AWS answers CreateFleet, and says what it does not have, or once nothing of it
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And every instance of the type "c6i.xlarge" in "us-west-2a" is not launched, for "InsufficientInstanceCapacity"
    And Karpenter with a NodePool "default"
    When a pod "web" that requests 2 CPU is created
    Then the pod "web" is Running within 5m
    When the first instance is not launched, and nothing is said of why
    And a pod "api" that requests 3 CPU is created
    Then the pod "api" is Running within 10m
