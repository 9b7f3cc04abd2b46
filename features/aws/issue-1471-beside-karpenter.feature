# A control of https://github.com/kubernetes/cloud-provider-aws/issues/1471: Karpenter launches, and the controller manager looks after
# all Nodes.

@aws @issue-1471
Feature: The cloud controller manager looks after the Nodes of Karpenter's instances and of others

  @aws-1471-beside-karpenter
  Scenario: An instance of Karpenter's and another one become Nodes, and the other one vanishes
    Given a cluster
    And a Ready Node "system" for system pods only
    And machines that register 30s after their launch and are Ready 1s later
    And an AWS region
    And the first instance vanishes 4m after it is running
    And an instance of the type "m5.large" is launched in "us-west-2b"
    And the cloud controller manager of AWS v1.34.3 beside the target
    And Karpenter with a NodePool "default"
    When these objects are created:
      """
      apiVersion: v1
      kind: Pod
      metadata: {name: web}
      spec:
        nodeSelector: {karpenter.sh/nodepool: default}
        containers:
        - {name: app, image: app, resources: {requests: {cpu: "1"}}}
      """
    Then the pod "web" is Running within 3m
    And this holds:
      """
      statement: the controller manager has initialized both Nodes
      count:
        source: api
        verb: update
        resource: nodes
        actor: cloud-controller-manager
        detail:
          agent: aws-ccm
          removed: {contains: "node.cloudprovider.kubernetes.io/uninitialized=true:NoSchedule"}
      atLeast: 2
      ever: true
      """
    And "cloud-controller-manager" has sent "delete" of "nodes" within 6m
    And this holds:
      """
      happens: {source: api, verb: delete, resource: nodes, detail: {agent: aws-ccm}}
      ever: true
      """
