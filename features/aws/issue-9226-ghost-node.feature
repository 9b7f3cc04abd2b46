# Fixed by https://github.com/aws/karpenter-provider-aws/pull/9242, first in v1.14.1.

@aws @issue-9226
Feature: The Node of an instance that is gone goes, too

  What runs on an instance ends with it. That its pods were given ten minutes to stop makes no difference then.

  @aws-9226-ghost-node
  Scenario: A spot instance is taken back while a pod of it takes its time
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the first instance is interrupted 2m after it is running, with a notice of 2m
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web, annotations: {nodestorm.sim/stop-after: 10m}}
      spec:
        terminationGracePeriodSeconds: 600
        nodeSelector: {karpenter.sh/nodepool: default}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 3m
    When "cloud" has recorded "deleted" of "instances"
    Then the pod "web" is gone within 5m
