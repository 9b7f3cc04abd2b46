# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9318, first in v1.14.0 and v1.12.2.

@aws @issue-9318
Feature: A call that AWS never answers comes to an end

  Karpenter plans for no pod while it does not know what became of a machine that it asked for.

  @aws-9318-hung-call
  Scenario: AWS answers every call but one CreateFleet
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And Karpenter with a NodePool "default"
    When the first call "CreateFleet" to the cloud is not answered
    And a pod "web" that requests 1 CPU is created
    Then the pod "web" is Running within 10m
