# A control of https://github.com/aws/karpenter-provider-aws/issues/9311: here three calls in ten succeed.

@aws @issue-9311
Feature: Karpenter for AWS gets by with launch templates that are in trouble

  @aws-9311-template-errors
  Scenario: Seven in ten calls for launch templates fail
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And Karpenter with a NodePool "default"
    When every call "DescribeLaunchTemplates" to the cloud is refused with "InternalError", with probability 0.7
    And every call "CreateLaunchTemplate" to the cloud is refused with "InternalError", with probability 0.7
    And a Deployment "web" of 20 pods that request 1 CPU is created
    Then every pod is Running within 15m
