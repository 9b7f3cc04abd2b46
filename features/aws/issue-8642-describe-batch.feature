# Fixed by https://github.com/aws/karpenter-provider-aws/pull/8642, first in v1.9.0.

@aws @issue-8642
Feature: Instances that are described together are described in one call

  @aws-8642-describe-batch
  Scenario: Six machines end at the same time
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And Karpenter with a NodePool "default"
    When a Deployment "web" of 6 pods that request 3 CPU is created
    Then every pod is Running within 3m
    When "Deployment/web" is scaled to 0
    And "NodePool/default" is deleted
    Then this holds within 10m:
      """
      count: {source: cloud, verb: deleted, resource: instances}
      atLeast: 6
      """
    And this holds:
      """
      never: {source: cloud, verb: DescribeInstances, actor: karpenter, code: 400, detail: {error: InvalidParameterCombination}}
      ever: true
      """
